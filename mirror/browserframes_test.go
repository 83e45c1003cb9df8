package mirror_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/anyurl/fetch/capture/browser"
	"github.com/anyurl/fetch/mirror"
)

// TestLinksInFrames crawls a page of a private network with a frame. Only the links
// of the page, and of frames with its own documents, may lead to other servers of
// the private network.
func TestLinksInFrames(t *testing.T) {
	const link = `<img src="OTHER/secret">`
	const public = "http://192.0.2.1/frame"
	for _, c := range []struct {
		name    string
		frame   browser.Frame
		allowed bool
	}{
		{"page", browser.Frame{URL: "SITE/frame"}, true},
		{"public", browser.Frame{URL: public}, false},
		{"without a URL", browser.Frame{URL: "about:srcdoc", Origin: "SITE"}, true},
		{"without a URL, public", browser.Frame{URL: "about:blank", Origin: "http://192.0.2.1"}, false},
		{"without an origin", browser.Frame{URL: "about:srcdoc", Origin: "null"}, false},
		{"data", browser.Frame{URL: "data:text/html,x", Origin: "null"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			site, other, seen := browserSite(t)
			real := strings.NewReplacer("SITE", site.URL, "OTHER", other.URL)
			c.frame.URL, c.frame.Origin, c.frame.HTML = real.Replace(c.frame.URL), real.Replace(c.frame.Origin), real.Replace(link)
			o := options(t, site.URL+"/")
			o.Browser = &fakeBrowser{frames: map[string][]browser.Frame{"/": {{URL: site.URL + "/", Origin: site.URL}, c.frame}}}
			o.Scope.Reach = mirror.Any
			run(t, o)
			if got := slices.Contains(seen(), "GET /secret"); got != c.allowed {
				t.Errorf("the link was followed: %v, want %v: %q", got, c.allowed, seen())
			}
		})
	}
}

// TestFieldsOfPage crawls a page with a charset and a Link field. They apply to the
// page and not to its frames. The text of both comes from the browser in UTF-8.
func TestFieldsOfPage(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, r.RequestURI)
		w.Header().Set("Content-Type", "text/css")
		if r.URL.Path == "/" {
			w.Header().Set("Content-Type", "text/html; charset=iso-8859-1")
			w.Header().Set("Link", "<style.css>; rel=stylesheet")
		}
	}))
	defer s.Close()
	const link = `<meta charset="iso-8859-1"><a href="é">`
	o := options(t, s.URL+"/")
	o.Browser = &fakeBrowser{frames: map[string][]browser.Frame{"/": {{URL: s.URL + "/", HTML: link}, {URL: s.URL + "/sub/frame", HTML: link}}}}
	run(t, o)
	slices.Sort(seen)
	want := []string{"/", "/%C3%A9", "/opened", "/robots.txt", "/style.css", "/sub/%C3%A9"}
	if !slices.Equal(seen, want) {
		t.Errorf("requests %q, want %q", seen, want)
	}
}

// TestDeniedInFrame crawls a page of a private network, and a public frame that
// requests an object of this network before the page does.
func TestDeniedInFrame(t *testing.T) {
	site, other, seen := browserSite(t)
	o := options(t, site.URL+"/")
	o.Browser = &fakeBrowser{
		requests: map[string][]string{"/": {"GET " + other.URL + "/picture  http://192.0.2.1/frame"}},
		frames:   map[string][]browser.Frame{"/": {{URL: site.URL + "/", HTML: `<img src="` + other.URL + `/picture">`}}},
	}
	o.Scope.Reach = mirror.Any
	run(t, o)
	if n := len(slices.DeleteFunc(seen(), func(r string) bool { return r != "GET /picture" })); n != 1 {
		t.Errorf("%d requests for the object of the page, want 1", n)
	}
}
