package mirror_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/internal/test/short"
	"github.com/anyurl/fetch/mirror"
)

// TestLimitsUnchanged checks that Limits.Files and Limits.Bytes also bound the
// visits of unchanged and missing objects, and that later runs complete them.
func TestLimitsUnchanged(t *testing.T) {
	t.Parallel()
	unchanged, missing := newFaultySite().webSite, newFaultySite().webSite
	for i := range 10 {
		delete(missing, fmt.Sprint("/", i))
	}
	for _, c := range []struct {
		name  string
		limit mirror.Limits
		err   error
		site  webSite // in the second run
		pages int     // requested in the second run
	}{
		{"files, unchanged objects", mirror.Limits{Files: 4}, mirror.ErrLimit, unchanged, 4},
		{"files, missing objects", mirror.Limits{Files: 4}, mirror.ErrLimit, missing, 4},
		{"bytes, unchanged objects", mirror.Limits{Bytes: 1500}, mirror.ErrLimit, unchanged, 3},
		{"limits not reached", mirror.Limits{Files: 100, Bytes: 1 << 20}, nil, unchanged, 11},
	} {
		for _, validators := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, validators %t", c.name, validators), func(t *testing.T) {
				short.Sample(t, 6)
				synctest.Test(t, func(t *testing.T) {
					w := newNetwork(t)
					site := unchanged
					w.web("a.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
						time.Sleep(time.Second)
						if _, ok := site[r.RequestURI]; ok && validators {
							out.Header().Set("ETag", `"1"`)
							if r.Header.Get("If-None-Match") != "" {
								out.WriteHeader(http.StatusNotModified)
								return
							}
						}
						site.ServeHTTP(out, r)
					}))
					o := w.options("http://a.example/")
					run(t, o)
					w.requests()
					site, o.Limits = c.site, c.limit
					_, err := mirror.Run(t.Context(), o)
					got := w.requests()
					n := len(strings.Fields(got))
					if c.err != nil && n == c.pages+1 { // a request was in progress when the run reached the limit
						n--
					}
					if n != c.pages || !errors.Is(err, c.err) {
						t.Errorf("error %v after %d requests, want %d\n%s", err, n, c.pages, outcomes(t, o.Dir))
					}
					o.Limits = mirror.Limits{}
					if err != nil {
						run(t, o)
						got += " " + w.requests()
					}
					if n := len(strings.Fields(got)); n < 11 || n > 12 { // a discarded visit is repeated
						t.Errorf("%d requests in two runs: %s", n, got)
					}
					checkVerify(t, o.Dir)
				})
			})
		}
	}
}
