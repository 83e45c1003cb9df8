package wrap

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/roundtrip"
	web "github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

// objects serves an object of every size in content, at /SIZE. It ignores
// ranges below /norange/, and interrupts the first body below /broken/.
func objects(t *testing.T, content []byte, requests *atomic.Int32) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := requests.Add(1)
		dir, name := r.URL.Path[:strings.LastIndexByte(r.URL.Path, '/')+1], r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
		var size int
		fmt.Sscan(name, &size)
		w.Header().Set("ETag", `"v1"`)
		w.Header().Set("Content-Type", "text/plain")
		if dir != "/" {
			r.Header.Del("Range")
		}
		if dir == "/broken/" && n == 1 {
			w.Write(content[:size/2])
			panic(http.ErrAbortHandler)
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content[:size]))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestSegmentsHead checks that a Client with Segments returns the same response
// as a Client without.
func TestSegmentsHead(t *testing.T) {
	content := big()
	for _, c := range []struct {
		name, path string
		first      int64
		requests   int32 // maximum number of requests with Segments; 0 means no limit
	}{
		{"several segments", fmt.Sprint("/", 10<<20), 0, 0},
		{"several segments from a byte on", fmt.Sprint("/", 10<<20), 1 << 20, 0},
		{"one segment", "/100", 0, 1},
		{"one segment from a byte on", "/100", 50, 1},
		{"empty", "/0", 0, 2},
		{"no ranges", fmt.Sprint("/norange/", 10<<20), 0, 1},
		{"no ranges, from a byte on", fmt.Sprint("/norange/", 10<<20), 1 << 20, 1},
		{"no ranges, small", "/norange/100", 0, 1},
		{"no ranges, interrupted after the first segment", fmt.Sprint("/broken/", 10<<20), 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got [2]string
			for i, o := range []Options{{}, {Segments: 4}} {
				var requests atomic.Int32
				o.Retry.Delay = time.Nanosecond
				client := fetch.New(fetch.Options{Policy: fetch.Typed(), Wrap: Standard(o)}, web.Schemes(web.Options{})...)
				defer client.Close()
				url := objects(t, content, &requests) + c.path
				resp, err := client.Do(t.Context(), &fetch.Request{URL: uri.MustParse(url), Range: fetch.Range{First: c.first}})
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				got[i] = fmt.Sprintln(resp.Code, resp.Size, resp.Offset, len(body), bytes.HasPrefix(content[resp.Offset:], body), fetch.FaultOf(err))
				got[i] += fields(string(resp.Head)) + fields(lines(resp.Header))
				if n := requests.Load(); i == 1 && c.requests > 0 && n > c.requests {
					t.Errorf("%d requests, want at most %d", n, c.requests)
				}
				if c.first > 0 {
					continue
				}
				plain, err := (&http.Client{Transport: roundtrip.Transport{Client: client}}).Get(url)
				if err != nil {
					t.Fatal(err)
				}
				plain.Body.Close()
				got[i] += fmt.Sprintln(plain.Status, plain.ContentLength, plain.Header.Get("Content-Range"))
			}
			if got[1] != got[0] {
				t.Errorf("with segments:\n%s\nwithout:\n%s", got[1], got[0])
			}
		})
	}
}

func lines(h fetch.Header) string {
	var b strings.Builder
	for _, f := range h {
		fmt.Fprintf(&b, "%s: %s\r\n", f.Name, f.Value)
	}
	return b.String()
}

// fields returns the lines of a head in alphabetical order, without the date.
func fields(head string) string {
	all := slices.DeleteFunc(strings.Split(head, "\r\n"), func(line string) bool { return line == "" || strings.HasPrefix(line, "Date:") })
	slices.Sort(all)
	return strings.Join(all, "\n") + "\n"
}
