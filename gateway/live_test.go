package gateway

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/peer"
	"github.com/anyurl/fetch/schemes"
	web "github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/wrap"
)

// newLive returns a Handler for live pages at localhost:8700 that may reach
// 127.0.0.1.
func newLive(t testing.TB, change func(*Options)) *Handler {
	t.Helper()
	opts := Options{Address: testAddress, Schemes: schemes.All(schemes.Options{HTTP: web.Options{Compressed: true}}), Live: &Live{AllowHosts: []string{"127.0.0.1"}}}
	opts.Live.Client = func(p fetch.Policy, personal bool) (*fetch.Client, error) {
		return fetch.New(fetch.Options{Policy: p, Wrap: wrap.Standard(wrap.Options{})}, opts.Schemes...), nil
	}
	if change != nil {
		change(&opts)
	}
	h, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// navigation contains the header fields of a browser for a URL that the user
// entered.
var navigation = []string{"Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"}

// href matches the target of a link.
var href = regexp.MustCompile(`href="(/(?:live|raw)[^"]*)"`)

func TestLiveGopher(t *testing.T) {
	s := peer.Gophernicus(t, peer.GophernicusOptions{})
	s.Put("about.txt", []byte("caf\xc3\xa9 <b>\n"))
	h := newLive(t, nil)
	w := get(h, "GET", "/live/gopher://"+s.Addr+"/1/")
	if w.Code != http.StatusOK {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	about := ""
	for _, m := range href.FindAllStringSubmatch(w.Body.String(), -1) {
		if !strings.Contains(m[1], ";via=") {
			t.Errorf("the link %s has no signature", m[1])
		}
		if strings.HasSuffix(m[1], "about.txt") {
			about = m[1]
		}
	}
	w = get(h, "GET", about, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate")
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "<pre>café &lt;b&gt;") {
		t.Errorf("%s: %d: %s", about, w.Code, w.Body)
	}
}
