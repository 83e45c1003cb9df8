package save_test

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/save"
	web "github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/wrap"
)

// TestFetchLarge saves bodies that are larger than all buffers, so that Linux
// moves their bytes from the connection to the file. It checks that limits,
// retries and progress reports apply to these bytes.
func TestFetchLarge(t *testing.T) {
	const size = 3 << 20
	body := strings.Repeat("0123456789abcde\n", size/16)
	for _, c := range []struct {
		name     string
		announce int // Content-Length of the first response; 0 omits it
		sent     int // bytes of the first response
		limit    int64
		fault    fetch.Fault
		requests int
	}{
		{name: "complete", announce: size, sent: size, requests: 1},
		{name: "without a length", sent: size, requests: 1},
		{name: "breaks off and is resumed", announce: size, sent: size / 2, requests: 2},
		{name: "within the limit", sent: size, limit: size, requests: 1},
		{name: "exceeds the limit", sent: size, limit: size - 1, fault: fetch.TooLarge, requests: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			requests := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests++
				w.Header().Set("ETag", `"v1"`)
				if requests > 1 {
					http.ServeContent(w, r, "file", time.Time{}, strings.NewReader(body))
					return
				}
				if c.announce == 0 {
					writeUntilClose(t, w, body[:c.sent])
					return
				}
				w.Header().Set("Content-Length", strconv.Itoa(c.announce))
				w.Write([]byte(body[:c.sent]))
			}))
			defer server.Close()
			policy := fetch.Typed()
			policy.MaxBody = c.limit
			var last wrap.Event
			client := fetch.New(fetch.Options{
				Policy: policy,
				Wrap:   wrap.Standard(wrap.Options{Progress: func(e wrap.Event) { last = e }, Polite: &wrap.PoliteOptions{}}),
			}, web.Schemes(web.Options{})...)
			defer client.Close()
			path := filepath.Join(t.TempDir(), "out")
			_, err := save.Fetch(context.Background(), client, &fetch.Request{URL: uri.MustParse(server.URL)}, path, save.Options{})
			if c.fault != 0 {
				if !errors.Is(err, c.fault) {
					t.Errorf("got error %v, want %v", err, c.fault)
				}
				if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("the incomplete file exists: %v", err)
				}
				return
			}
			got, readErr := os.ReadFile(path)
			if err != nil || readErr != nil || string(got) != body {
				t.Errorf("got %d bytes, %v, %v", len(got), err, readErr)
			}
			if requests != c.requests {
				t.Errorf("%d requests, want %d", requests, c.requests)
			}
			if last.State != wrap.Ended || last.Bytes != size {
				t.Errorf("last progress report: %+v", last)
			}
		})
	}
}

// writeUntilClose sends a response whose end is the end of the connection.
func writeUntilClose(t *testing.T, w http.ResponseWriter, body string) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close()
	c.Write([]byte("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nConnection: close\r\n\r\n" + body))
}
