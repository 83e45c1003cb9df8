package gateway

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway/internal/guard"
	"github.com/anyurl/fetch/internal/test/browsertest"
	"github.com/anyurl/fetch/internal/test/peer"
)

// accessPages returns the paths of one page of each kind. At the address closed, no
// server listens.
func accessPages(closed string) []string {
	long := strings.Repeat("abcdefghij", 30)
	return []string{
		"/", root, root + "?text=second", root + "?text=" + long, root + "?words=a.example", root + "?prefix=" + long, root + "?failures",
		root + "*/http://a.example/", root + "*/http://a.example/" + long, root + "20240101000000-20250101000000/http://a.example/",
		root + "2024/gopher://g.example/1/", root + "2024;sort=-size/ftp://f.example/pub/", root + "2024/news://n.example/2@example.org",
		root + "2024/nntp://n.example/comp.test", root + "2024;sort=date/nntp://n.example/comp.test", root + "2024/gopher://g.example/0/about.txt",
		root + "2024/gopher://g.example/I/pixel.gif", root + "2024/http://a.example/" + long, root + "2024/telnet://a.example/", root + "?text=-x",
		"/nothing", "/live/gopher://" + closed + "/1/" + long, "/live/gopher://127.0.0.2/", "/live/http://a:b@a.example/", "/live/file:///etc/hostname",
	}
}

// TestAccess opens each kind of page in Chromium. No page scrolls sideways on a
// telephone, and axe-core finds no serious problem in light and dark colors.
func TestAccess(t *testing.T) {
	t.Parallel()
	_, file := peer.NeedModule(t, "axe-core@4.14.1", "axe-core", "axe.min.js")
	axe, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, base, h := openAccess(t)
	private := newLoginServer(t, nil)
	ask := signed(h, guard.Permission{Level: guard.Confirmed}, private.URL+"/a")
	logIn(t, p, base+ask)
	p.Go(base + "/logins")
	p.Wait("document.querySelectorAll('tbody tr').length == 1")
	another := signed(h, guard.Permission{Level: guard.Confirmed}, strings.Replace(private.URL, "//", "//bob@", 1)+"/a")
	for _, path := range append(accessPages(closedAddress(t)), ask, "/logins", another) {
		p.SetWidth(360)
		p.Go(base + path)
		if got := p.Eval("document.documentElement.scrollWidth"); got != "360" {
			t.Errorf("%.80s: %s pixels wide; widest: %s", path, got, p.Eval(`[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > 360).slice(0, 3).map(
				e => e.tagName + '.' + e.className).join(' ')`))
		}
		p.Eval("(() => { " + string(axe) + "\nreturn 1 })()")
		for _, scheme := range []string{"light", "dark"} {
			p.SetColors(scheme)
			problems := p.Eval(`axe.run({resultTypes: ['violations']}).then(r => r.violations.filter(v => v.impact == 'serious' || v.impact == 'critical').map(
				v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 200)).join(' ')).join('\n'))`)
			if problems != "" {
				t.Errorf("%.80s (%s): %s", path, scheme, problems)
			}
		}
	}
}

// closedAddress returns an address at which no server listens.
func closedAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// logIn fills in the form of a page that asks for a login. It types the password,
// and waits for the page that follows, whose address has no password.
func logIn(t *testing.T, p *browsertest.Page, address string) {
	t.Helper()
	p.Go(address)
	p.Wait("document.querySelector('h1').textContent == 'Log in to the server'")
	p.Eval("void document.querySelector('#user').focus()")
	p.Press("alice")
	p.Press("\t")
	if got := p.Eval("document.activeElement.id"); got != "password" {
		t.Errorf("after the user name, the focus is on %s", got)
	}
	p.Press("typed password")
	p.Press("\r")
	p.Wait("document.body.textContent.includes('Logged in as alice')")
	if got := p.Eval("location.href + document.documentElement.outerHTML + document.cookie"); strings.Contains(got, "typed password") {
		t.Errorf("the page or its address contains the password: %s", got)
	}
}

// openAccess starts a server with an archive and live pages, and opens a tab of a
// browser with a session.
func openAccess(t *testing.T) (p *browsertest.Page, base string, h *Handler) {
	t.Helper()
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h = newHandler(t, func(o *Options) {
		crawl(o)
		withTexts(t)(o)
		o.Address, o.Live = l.Addr(), &Live{AllowHosts: []string{"127.0.0.1"}}
		o.Live.Client = func(p fetch.Policy, personal bool) (*fetch.Client, error) {
			return fetch.New(fetch.Options{Policy: p}, o.Schemes...), nil
		}
	})
	serve(t, h, l)
	base = "http://" + l.Addr().String()
	return browsertest.Start(t, l.Addr().String()).Open(base + h.TokenPath()), base, h
}

// TestKeyboard walks through pages with the tabulator key. The focus reaches each
// link and field in order, and is visible.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	p, base, _ := openAccess(t)
	for _, path := range []string{"/", root, root + "?text=second", root + "*/http://a.example/", root + "2024/gopher://g.example/1/",
		root + "2024;sort=name/ftp://f.example/pub/"} {
		p.Go(base + path)
		wanted, _ := strconv.Atoi(p.Eval(`document.querySelectorAll('a[href], button, input:not([type=hidden]), select, summary, [tabindex="0"]').length`))
		p.Press("\t")
		if got := p.Eval("document.activeElement.textContent"); got != "Skip to the content" {
			t.Errorf("%s: the first focus is on %s", path, got)
		}
		seen := 1
		for ; seen < wanted; seen++ {
			p.Press("\t")
			state := p.Eval(`(e => { const r = e.getBoundingClientRect(), s = getComputedStyle(e)
				return e == document.body ? 'end' : r.width > 0 && r.height > 0 && s.outlineStyle != 'none' ? '' : e.outerHTML })(document.activeElement)`)
			if state == "end" {
				break
			}
			if state != "" {
				t.Errorf("%s: the focus is not visible: %s", path, state)
			}
		}
		// A field for a date has three parts.
		if seen < wanted {
			t.Errorf("%s: the focus reaches %d of %d elements", path, seen, wanted)
		}
	}
	p.Go(base + root)
	p.Press("\t")
	p.Press("\r")
	p.Wait("location.hash == '#content'")
	p.Press("\t")
	if got := p.Eval("document.querySelector('main').contains(document.activeElement)"); got != fmt.Sprint(true) {
		t.Errorf("after the skip link, the focus is outside of the content: %s", got)
	}
}
