package browsertest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestBrowser opens a page, runs its script and downloads a file. A request to
// another server of this machine fails.
func TestBrowser(t *testing.T) {
	t.Parallel()
	reached := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer other.Close()
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/file" {
			w.Header().Set("Content-Disposition", "attachment; filename=file.txt")
			fmt.Fprint(w, "content")
			return
		}
		fmt.Fprint(w, "<p>before<script>setTimeout(() => document.querySelector('p').textContent = 'after')</script>")
	}))
	defer served.Close()
	b := Start(t, served.Listener.Addr().String())
	p := b.Open(served.URL)
	p.Wait("document.querySelector('p').textContent == 'after'")
	if got := p.Errors(); len(got) > 0 {
		t.Errorf("errors of the page: %q", got)
	}
	for _, url := range []string{other.URL, "http://localhost:1", "http://name.invalid"} {
		if got := p.Eval("fetch('" + url + "', {mode: 'no-cors'}).then(() => 'reached', e => e.message)"); got != "Failed to fetch" {
			t.Errorf("%s: %s", url, got)
		}
	}
	p.Eval("void setTimeout(() => { window.isThrown = true; throw new Error('thrown') })")
	p.Wait("window.isThrown")
	if got := strings.Join(p.Errors(), "\n"); !strings.Contains(got, "Error: thrown") || !strings.Contains(got, "net::ERR_") {
		t.Errorf("errors of the page: %s", got)
	}
	if reached {
		t.Error("the browser reached another server")
	}
	name, content := p.Download("Object.assign(document.createElement('a'), {href: '/file', download: ''}).click()")
	if name != "file.txt" || string(content) != "content" {
		t.Errorf("downloaded %s with the content %q", name, content)
	}
}
