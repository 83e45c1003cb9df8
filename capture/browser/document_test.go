package browser_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anyurl/fetch/capture/browser"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// TestOpenedBy opens pages whose scripts open other pages, and checks whether a
// document of another origin can have opened them. It also checks the origins of
// documents without a URL.
func TestOpenedBy(t *testing.T) {
	b := open(t, browser.Options{PageTime: time.Minute, PageIdle: 200 * time.Millisecond})
	const leaves = "<script>onload = () => { location = '/other' }</script>"
	for _, c := range []struct {
		name, page string
		ofPage     bool
		origins    string // of the frames
	}{
		{"page", leaves, true, "http://a.test"},
		{"frame of the page", leaves + `<iframe src="/frame"></iframe>`, true, "http://a.test http://a.test"},
		{"frame of another site", leaves + `<iframe src="http://b.test/frame"></iframe>`, false, "http://a.test http://b.test"},
		{"frame of another port", leaves + `<iframe src="http://a.test:81/frame"></iframe>`, false, "http://a.test http://a.test:81"},
		{"frame without a URL", leaves + `<iframe srcdoc="text"></iframe>`, true, "http://a.test http://a.test"},
		{"frame without a URL in a frame", `<iframe src="http://a.test:81/parent"></iframe>`, false, "http://a.test http://a.test:81 http://a.test:81"},
		{"sandbox", `<iframe sandbox srcdoc="text"></iframe>`, false, "http://a.test null"},
	} {
		t.Run(c.name, func(t *testing.T) {
			site := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				switch r.URL.Path {
				case "/":
					io.WriteString(w, c.page)
				case "/parent":
					io.WriteString(w, `<iframe srcdoc="text"></iframe>`)
				}
			})
			var mu sync.Mutex
			opened := map[bool]int{}
			p, err := b.Visit(t.Context(), &browser.Visit{URL: "http://a.test/", Handler: site, Navigate: func(_ string, ofPage bool) {
				mu.Lock()
				defer mu.Unlock()
				opened[ofPage]++
			}})
			if err != nil {
				t.Fatal(err)
			}
			if leaving := strings.Contains(c.page, leaves); opened[!c.ofPage] > 0 || leaving && opened[c.ofPage] == 0 {
				t.Errorf("opened by the page: %v", opened)
			}
			var origins []string
			for _, f := range p.Frames {
				origins = append(origins, f.Origin)
			}
			if got := strings.Join(origins, " "); got != c.origins {
				t.Errorf("origins %q, want %q", got, c.origins)
			}
		})
	}
}

// TestUpgrade opens a page of a host that the browser only reaches over https. The
// response over http must not become the encrypted page.
func TestUpgrade(t *testing.T) {
	b := open(t, browser.Options{PageTime: time.Minute, PageIdle: 200 * time.Millisecond})
	page := uri.MustParse("http://upgraded.dev/page") // Chromium has an entry for dev
	var mu sync.Mutex
	var requested []string
	h := &browser.Answer{
		Response: &fetch.Response{URL: page, Code: 200, Header: fetch.Header{{Name: "Content-Type", Value: "text/html"}}},
		Body:     func() (io.ReadSeeker, error) { return strings.NewReader("plain"), nil },
		Next: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			requested = append(requested, r.RequestURI)
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "encrypted")
		}),
	}
	p, err := b.Visit(t.Context(), &browser.Visit{URL: page.String(), Handler: h, Navigate: func(u string, _ bool) {
		t.Errorf("opened %s", u)
	}})
	if err != nil {
		t.Fatal(err)
	}
	if d := p.Frames[0]; d.URL != "https://upgraded.dev/page" || !strings.Contains(d.HTML, "encrypted") || len(p.Notes) > 0 {
		t.Errorf("document %+v, notes %q, requests %q", d, p.Notes, requested)
	}
}
