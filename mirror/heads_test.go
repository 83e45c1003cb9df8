package mirror_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/anyurl/fetch/mirror"
)

// TestLongHeads checks the memory for the heads of responses, which visits hold
// until they are committed in batches.
func TestLongHeads(t *testing.T) {
	if testing.Short() {
		t.Skip("sends 240 MB of header fields")
	}
	const pages = 1200
	large := strings.Repeat("x", 50_000)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/robots.txt":
			http.NotFound(w, r)
		case "/":
			for i := range pages {
				fmt.Fprintf(w, "<a href=/%d>x</a>", i)
			}
		default:
			for i := range 4 {
				w.Header().Set("X-"+strconv.Itoa(i), large)
			}
		}
	}))
	t.Cleanup(s.Close)
	for name, warc := range map[string]*mirror.WARC{"without WARC": nil, "with WARC": {}} {
		t.Run(name, func(t *testing.T) {
			o := options(t, s.URL+"/")
			o.PerHost, o.WARC = 8, warc
			peak := watchHeap(t)
			if sum := run(t, o); sum.New != pages+1 {
				t.Errorf("%+v", sum)
			}
			peak(t, 128<<20) // with garbage, and the buffers of the server
		})
	}
}
