package capture_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/capture"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/wire/mitm"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// TestWarcioIndex compares the index of recorded requests with that of warcio,
// byte for byte, including the keys of requests with a body.
func TestWarcioIndex(t *testing.T) {
	node, cli := peer.NeedModule(t, "warcio@2.4.11", "warcio", "dist/cli.js")
	server := testServer(false)
	defer server.Close()
	p := startProxy(t, nil, nil)
	client := p.client(false)
	for _, c := range []struct{ method, path, media, body string }{
		{"GET", "/page?b=2&a=1", "", ""},
		{"POST", "/form", "application/x-www-form-urlencoded", "b=2&a=1&a=3&text=%C3%A9+x"},
		{"POST", "/form?q=1", "application/x-www-form-urlencoded; charset=utf-8", "b=2"},
		{"POST", "/json", "application/json", `{"type":"event","id":[44,7],"deep":{"on":true,"none":null,"text":"some"}}`},
		{"POST", "/text", "text/plain", `{"a":1.5,"b":"x"}`},
		{"POST", "/broken", "application/json", `{"a":`},
		{"POST", "/binary", "application/octet-stream", "\x00\xff\x80text"},
		{"POST", "/files", "multipart/form-data; boundary=XX", "--XX\r\nContent-Disposition: form-data; name=\"one\"\r\n\r\nvalue\r\n--XX\r\n" +
			"Content-Disposition: form-data; name=\"file\"; filename=\"f.txt\"\r\n\r\ncontent\r\n--XX--\r\n"},
		{"POST", "/large", "application/x-www-form-urlencoded", "x=" + strings.Repeat("0123456789", 1000)},
		{"POST", "/none", "", ""},
		{"PUT", "/put", "application/json", `{"a":"b"}`},
		{"DELETE", "/delete", "", ""},
		{"OPTIONS", "/options", "", ""},
		{"GET", "/gzip", "", ""},
		{"GET", "/missing", "", ""},
		{"GET", "/page?a=1&b=2", "", ""},
	} {
		var body io.Reader
		if c.body != "" {
			body = strings.NewReader(c.body)
		}
		r, err := http.NewRequest(c.method, server.URL+c.path, body)
		if err != nil {
			t.Fatal(err)
		}
		if c.media != "" {
			r.Header.Set("Content-Type", c.media)
		}
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	p.stop()
	p.verify()
	var ours bytes.Buffer
	if err := warc.Index(&ours, p.dir+"/all.warc.gz"); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, cli, "cdx-index", p.dir+"/all.warc.gz")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(out), "\n")
	slices.Sort(lines)
	if got := strings.Join(lines, ""); got != ours.String() || len(lines) < 15 {
		t.Errorf("warcio wrote\n%s\ngot\n%s", got, ours.String())
	}
}

// TestIncomplete checks exchanges that do not complete.
func TestIncomplete(t *testing.T) {
	started, gone := make(chan bool, 1), make(chan bool, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/short": // closes the connection before the announced end
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, "only this")
		case "/endless":
			io.WriteString(w, "first")
			w.(http.Flusher).Flush()
			started <- true
			<-r.Context().Done()
			gone <- true
		default:
			io.Copy(io.Discard, r.Body)
			io.WriteString(w, "complete")
		}
	}))
	defer server.Close()
	p := startProxy(t, nil, func(h *capture.Handler, _ *mitm.Server) { h.MaxRequest = 1000 })
	client := p.client(false)
	resp, err := client.Get(server.URL + "/short")
	if err == nil {
		_, err = io.ReadAll(resp.Body)
		resp.Body.Close()
	}
	if err == nil {
		t.Error("the client regards a truncated response as complete")
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, _ := http.NewRequestWithContext(ctx, "GET", server.URL+"/endless", nil)
	if resp, err = client.Do(r); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(resp.Body, make([]byte, 5)); err != nil { // streams are not held back
		t.Error(err)
	}
	<-started
	cancel()
	<-gone // the request to the server ends too
	resp.Body.Close()
	for _, body := range []io.Reader{bytes.NewReader(make([]byte, 1001)), struct{ io.Reader }{bytes.NewReader(make([]byte, 5000))}} {
		if resp, err = client.Post(server.URL+"/upload", "text/plain", body); err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != 413 {
			t.Errorf("a body that is too large: %s", resp.Status)
		}
	}
	all := strings.Join(p.records(), "\n")
	if !strings.Contains(all, "/short") || !strings.Contains(all, "/endless") || strings.Contains(all, "/upload") {
		t.Error(all)
	}
	p.verify()
}

// TestEvents checks that the events of a stream arrive one by one.
func TestEvents(t *testing.T) {
	next := make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 3 {
			fmt.Fprintf(w, "data: %d\n", i)
			w.(http.Flusher).Flush()
			<-next
		}
	}))
	defer server.Close()
	p := startProxy(t, nil, nil)
	resp, err := p.client(false).Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	for i := range 3 {
		if line, err := lines.ReadString('\n'); line != fmt.Sprintf("data: %d\n", i) || err != nil {
			t.Errorf("%q %v", line, err)
		}
		next <- true
	}
}

// TestStoreError checks that a client does not regard a response as complete
// which could not be stored.
func TestStoreError(t *testing.T) {
	server := testServer(false)
	defer server.Close()
	p := startProxy(t, nil, func(h *capture.Handler, _ *mitm.Server) {
		h.Store = func(_ context.Context, x *capture.Exchange) error {
			x.Free()
			return errors.New("disk full")
		}
	})
	for _, path := range []string{"/page", "/missing"} {
		resp, err := p.client(false).Get(server.URL + path)
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		if err == nil {
			t.Errorf("%s: no error", path)
		}
	}
}

// TestVisit checks that a Visit collects exchanges, whose payloads can be read
// until they are freed, and that requests without a permission are not sent.
func TestVisit(t *testing.T) {
	server := testServer(false)
	defer server.Close()
	var visit capture.Visit
	p := startProxy(t, nil, func(h *capture.Handler, _ *mitm.Server) {
		h.Store = visit.Add
		h.From = func(r *http.Request, u uri.URI) (*fetch.Source, error) {
			switch u.Path() {
			case "/linked":
				return capture.PublicPage(u), nil
			case "/denied":
				return nil, fetch.Denied.Errorf("not in scope")
			}
			return nil, nil
		}
	})
	for path, want := range map[string]int{"/page": 200, "/linked": 403, "/denied": 403} {
		resp, err := p.client(false).Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want || want == 403 && resp.Header.Get("Proxy-Status") == "" {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
	all := visit.Take()
	if len(all) != 2 || len(visit.Take()) != 0 {
		t.Fatalf("%d exchanges", len(all))
	}
	for _, x := range all {
		records, err := x.Records(nil, "")
		switch path := x.Request.URL.Path(); {
		case path == "/linked":
			if !errors.Is(x.Err, fetch.BadAddress) || len(records) != 0 || err != nil {
				t.Error(x.Err, records, err)
			}
		case len(records) != 2 || err != nil || x.Size == 0:
			t.Error(len(records), err)
		default:
			body, err := x.Body()
			if err != nil {
				t.Fatal(err)
			}
			if text, err := io.ReadAll(body); !strings.HasPrefix(string(text), "GET /page") || err != nil {
				t.Errorf("%q %v", text, err)
			}
		}
		x.Free()
		x.Free()
	}
}
