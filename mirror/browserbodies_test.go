package mirror_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/capture/browser"
	"github.com/anyurl/fetch/mirror"
)

// A postingBrowser is a fakeBrowser whose page posts bodies. It records the codes of
// the responses.
type postingBrowser struct {
	fakeBrowser
	sizes []int
	codes []int
}

func (b *postingBrowser) Visit(ctx context.Context, v *browser.Visit) (*browser.Page, error) {
	b.get(ctx, v.Handler, "GET", v.URL, "", "")
	for _, n := range b.sizes {
		b.codes = append(b.codes, b.get(ctx, v.Handler, "POST", v.URL+"form", strings.Repeat("x", n), v.URL).Code)
	}
	return &browser.Page{}, nil
}

// TestBrowserBodies checks the limits of the bodies that a page sends.
func TestBrowserBodies(t *testing.T) {
	const mebibyte = 1 << 20
	site, _, seen := browserSite(t)
	b := &postingBrowser{sizes: []int{17 * mebibyte, 16 * mebibyte, 16 * mebibyte, 16 * mebibyte, 16 * mebibyte, 1}}
	o := options(t, site.URL+"/")
	o.Browser = b
	run(t, o)
	for i, code := range b.codes {
		want := http.StatusOK
		if i == 0 || i == len(b.codes)-1 {
			want = http.StatusRequestEntityTooLarge
		}
		if code != want {
			t.Errorf("request %d: code %d, want %d", i, code, want)
		}
	}
	if posts := strings.Count(strings.Join(seen(), "\n"), "POST /form"); posts != 4 || len(b.codes) != 6 {
		t.Errorf("%d requests were sent, codes %v", posts, b.codes)
	}
}

// TestBrowserBytes checks that Limits.Bytes counts what pages request, also if it is
// no object.
func TestBrowserBytes(t *testing.T) {
	site, _, seen := browserSite(t)
	body := strings.Repeat("x", 1000)
	next := func(path string) []browser.Frame {
		return []browser.Frame{{URL: site.URL + "/", HTML: `<a href="` + path + `">`}}
	}
	o := options(t, site.URL+"/")
	o.Browser = &fakeBrowser{
		requests: map[string][]string{"/": {"POST " + site.URL + "/form " + body}, "/second": {"POST " + site.URL + "/form " + body + "2"}},
		frames:   map[string][]browser.Frame{"/": next("/second"), "/second": next("/third")},
	}
	o.Limits.Bytes = 1500
	sum, err := mirror.Run(t.Context(), o)
	if slices.Contains(seen(), "GET /third") || !slices.Contains(seen(), "GET /") || sum.Pending == 0 {
		t.Errorf("requests %q, summary %+v, %v", seen(), sum, err)
	}
}
