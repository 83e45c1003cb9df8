package mirror_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/uri"
)

// largeBody is the size of the body of TestMemory, in bytes.
var largeBody int64 = 32 << 20

// TestMemory checks that neither a large body nor many parallel ones use much
// memory.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("retrieves large bodies")
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/large":
			io.Copy(w, faultnet.Body(largeBody))
		case strings.HasPrefix(r.URL.Path, "/some"):
			io.Copy(w, faultnet.Body(1<<20))
		default:
			http.NotFound(w, r)
		}
	}))
	defer s.Close()
	for name, urls := range map[string][]string{"one": {"/large"}, "many": manyURLs(int(largeBody >> 20))} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			for _, u := range urls {
				o.Seeds = append(o.Seeds, uri.MustParse(s.URL+u))
			}
			o.PerHost = 8
			peak := watchHeap(t)
			if sum := run(t, o); sum.New != int64(len(urls)) || sum.Bytes < largeBody {
				t.Errorf("%+v", sum)
			}
			peak(t, uint64(min(largeBody*3/4, 64<<20)))
		})
	}
}

func manyURLs(n int) (urls []string) {
	for i := range n {
		urls = append(urls, "/some"+strings.Repeat("x", i))
	}
	return urls
}
