package replay

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// BenchmarkPage requests the 100 objects of a page, each of 14 KiB, one after
// the other: from a server, from a Site and from a Proxy.
func BenchmarkPage(b *testing.B) {
	body := strings.Repeat("0123456789abcde\n", 14<<10/16)
	var page []sample
	for i := range 100 {
		page = append(page, sample{"20240101", fmt.Sprintf("http://a.example/%d", i), ok("application/json", body)})
	}
	archive := Archive{"a", openSamples(b, page...)}
	site := newSite(b, testAddress, archive)
	for _, c := range []struct {
		name    string
		handler http.Handler
		host    string
	}{
		{"server", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, body) }), ""},
		{"host names", site, "http.a.example" + group},
		{"proxy", &Proxy{Archives: []Archive{archive}}, "a.example"},
	} {
		b.Run(c.name, func(b *testing.B) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r.URL.Scheme, r.URL.Host = "http", r.Host
				c.handler.ServeHTTP(w, r)
			}))
			defer server.Close()
			for b.Loop() {
				for i := range 100 {
					r, _ := http.NewRequestWithContext(b.Context(), "GET", fmt.Sprintf("%s/%d", server.URL, i), nil)
					r.Host = c.host
					r.Header.Set("Sec-Fetch-Site", "same-origin")
					resp, err := server.Client().Do(r)
					if err != nil {
						b.Fatal(err)
					}
					n, err := io.Copy(io.Discard, resp.Body)
					if resp.Body.Close(); err != nil || n != int64(len(body)) {
						b.Fatalf("%d bytes: %v", n, err)
					}
				}
			}
		})
	}
}
