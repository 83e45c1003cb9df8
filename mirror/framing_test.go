package mirror_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/short"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// TestFraming checks that the WARC record of a response with unusual framing is
// read like the response itself, by the second run and by a replay.
func TestFraming(t *testing.T) {
	t.Parallel()
	const page = "<a href=/linked>x</a>"
	chunks := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(page), page)
	for _, test := range []struct{ name, head, body, want string }{
		{"length", "HTTP/1.1 200 OK\r\nContent-Length: 21\r\n", page, page},
		{"length as a list", "HTTP/1.1 200 OK\r\nContent-Length: 21, 21\r\n", page, page},
		{"very large length", "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n", page, page},
		{"until the connection closes", "HTTP/1.0 200 OK\r\n", page, page},
		{"chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n", chunks, page},
		{"chunked twice", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", chunks, page},
		{"chunked and identity", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, identity\r\n", chunks, page},
		{"chunked and a length", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n", chunks, page},
		{"chunked in HTTP/1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n", chunks, chunks},
		{"interim response", "HTTP/1.1 103 x\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 21\r\n", page, page},
		{"blank in a name", "HTTP/1.1 200 OK\r\nX Y: z\r\nVia : p\r\nContent-Length: 21\r\n", page, page},
	} {
		t.Run(test.name, func(t *testing.T) {
			short.Sample(t, 6)
			t.Parallel()
			var mu sync.Mutex
			asked := map[string]int{}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				asked[r.URL.Path]++
				mu.Unlock()
				switch {
				case r.URL.Path != "/":
					w.WriteHeader(http.StatusNotFound)
				case r.Header.Get("If-None-Match") != "":
					w.WriteHeader(http.StatusNotModified)
				default:
					conn, _, err := http.NewResponseController(w).Hijack()
					if err != nil {
						t.Error(err)
						return
					}
					defer conn.Close()
					io.WriteString(conn, test.head+"ETag: \"1\"\r\nContent-Type: text/html\r\n\r\n"+test.body)
				}
			}))
			defer server.Close()
			o := options(t, server.URL+"/")
			o.Tree = false
			for i := range 2 {
				if sum := run(t, o); sum.Failed != 1 { // the linked page
					t.Errorf("run %d: %+v", i+1, sum)
				}
			}
			if asked["/"] != 2 || asked["/linked"] != 2 {
				t.Errorf("requests %v", asked)
			}
			names, err := filepath.Glob(filepath.Join(o.Dir, "warc", "*"))
			if err != nil {
				t.Fatal(err)
			}
			checkReplay(t, names, server.URL+"/", test.want)
			checkVerify(t, o.Dir)
		})
	}
}

// checkReplay checks the document that WARC files contain for a URL.
func checkReplay(t *testing.T, names []string, url, want string) {
	t.Helper()
	archive, err := warc.Open(names...)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	archive.Decode = true
	resp, err := archive.Schemes(fetch.Scheme{})[0].Open(fetch.Env{}).Do(t.Context(), &fetch.Request{URL: uri.MustParse(url)})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); string(body) != want || err != nil {
		t.Errorf("replayed %q, %v", body, err)
	}
}
