package mirror_test

import (
	"slices"
	"strings"
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
