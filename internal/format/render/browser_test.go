package render

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/browsertest"
	"github.com/anyurl/fetch/uri"
)

// layouts are pages with long names, lines and words.
func layouts() map[string]*View {
	long := strings.Repeat("abcdefghij", 30)
	var thread []fetch.Entry
	for n := range 20 {
		thread = append(thread, article(fmt.Sprintf("%d@h", n), "Subject "+long, fmt.Sprintf("<%d@h>", n-1)))
	}
	ask := fetch.Entry{Name: "Form", URL: uri.MustParse("gopher://h/0/ask%09%09?"), Kind: fetch.Document, Size: -1,
		Extra: map[string]string{"ask": "Ask: " + long + "\nChoose: Colour\t" + long + "\nAskL: Tale\nSelect: Like\t1"}}
	message := newView("news://h/a@h", messageMedia, "Subject: "+long+"\r\nFrom: "+long+"\r\nReferences: <"+long+"@h>\r\n\r\n"+long+"\r\n> "+long)
	message.Response.Kind = fetch.Document
	message.Page.Trail = []Link{{Name: "Archives", Path: "/"}, {Name: long, Path: "/"}}
	message.Page.Banner = &Banner{Label: "Capture", URL: "news://h/" + long, Links: []Link{{Name: "bytes", Path: "/"}}}
	text := newView("ftp://h/a/b/"+long, "text/plain", long+"\n")
	text.Response.Kind = fetch.Document
	folder := newView("ftp://h/a/b/", "text/x-list", "", file("a", 1<<40, 1), file(long+" x", 10, 2), file("b", 5, 3))
	folder.Order, _ = ParseOrder("size")
	return map[string]*View{
		"folder": folder, "menu": newView("gopher://h/1/", "text/x-list", "", info(long), info("   |  "+long), file("b", -1, 1)),
		"group": newView("news://h/g", "text/x-nntp-overview", "", thread...), "message": message, "text": text,
		"form":    newView("gopher://h/0/ask%09%09?", "application/gopher+-menu", "", ask),
		"session": {URL: uri.MustParse("telnet://" + long + "@h/"), Links: testLinks{}, Scheme: testScheme("telnet")},
	}
}

// TestLayout opens the pages in Chromium. On a narrow and on a wide screen, no
// page is wider than the screen. The keyboard reaches the content, and each part
// has a name for screen readers.
func TestLayout(t *testing.T) {
	t.Parallel()
	views := layouts()
	for _, v := range views {
		v.Page.StyleSheet = "/style.css"
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		switch {
		case name == "style.css":
			w.Header().Set("Content-Type", "text/css")
			w.Write(StyleSheet())
		case views[name] != nil:
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			if err := views[name].Write(r.Context(), w); err != nil {
				t.Error(err)
			}
		case name == "frames":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			for name := range layouts() {
				for _, width := range []string{"320", "1200"} {
					fmt.Fprintf(w, `<iframe id="%s%s" width=%[2]s height=600 style="border:0" src="/%[1]s"></iframe>`, name, width)
				}
			}
		}
	}))
	defer s.Close()
	b := browsertest.Start(t, s.Listener.Addr().String())
	p := b.Open(s.URL + "/frames")
	wide := p.Eval(`[...document.querySelectorAll('iframe')].filter(f => f.contentDocument.documentElement.scrollWidth > f.width).map(
		f => f.id + ': ' + f.contentDocument.documentElement.scrollWidth).join(', ')`)
	if wide != "" {
		t.Errorf("pages wider than the screen: %s", wide)
	}
	small := p.Eval(`[...document.querySelectorAll('iframe')].filter(f => f.contentDocument.querySelectorAll('h1').length != 1 ||
		f.contentDocument.querySelectorAll('main').length != 1 ||
		[...f.contentDocument.querySelectorAll('nav, section:not(.part), table a, input:not([type=hidden])')].some(
			e => !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels && e.labels.length))).map(f => f.id).join(', ')`)
	if small != "" {
		t.Errorf("pages without landmarks or names: %s", small)
	}
	p.Go(s.URL + "/folder")
	if got := p.Eval(`document.querySelector('a').textContent + getComputedStyle(document.querySelector('a')).left.startsWith('-')`); got != "Skip to the contenttrue" {
		t.Errorf("the first link is %s", got)
	}
	p.Eval(`document.querySelector('a').focus()`)
	p.Wait(`document.querySelector('a').getBoundingClientRect().left >= 0`)
	p.Wait(`document.querySelector('[aria-sort=ascending]').textContent == 'Size'`)
	if got := p.Errors(); len(got) > 0 {
		t.Errorf("console: %q", got)
	}
}
