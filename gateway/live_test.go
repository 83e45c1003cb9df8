package gateway

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway/internal/guard"
	"github.com/anyurl/fetch/internal/test/peer"
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
		if !strings.Contains(m[1], ";via=") && !strings.HasPrefix(m[1], "/live;feed/") {
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

// TestLiveSlow requests objects of a server that sends their end only after the
// client has received their beginning.
func TestLiveSlow(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	t.Parallel()
	received := make(chan struct{})
	start := strings.Repeat("start\n", 2<<10)
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		if r.URL.Path == "/sized" {
			w.Header().Set("Content-Length", strconv.Itoa(len(start)+3))
		}
		text := start
		if r.URL.Path == "/empty" {
			text = ""
		}
		io.WriteString(w, text)
		http.NewResponseController(w).Flush()
		select {
		case <-received:
			io.WriteString(w, "end")
		case <-r.Context().Done():
		}
	}))
	defer slow.Close()
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serve(t, newLive(t, func(o *Options) { o.Address = l.Addr() }), l)
	for target, want := range map[string]string{"/raw/%s/sized": start, "/raw/%s/": start, "/raw/%s/empty": "", "/live/%s/": start} {
		target = fmt.Sprintf(target, slow.URL)
		resp, err := http.Get("http://" + l.Addr().String() + target)
		if err != nil {
			t.Fatalf("%s: %v", target, err)
		}
		var got strings.Builder
		for buffer := make([]byte, 1<<10); err == nil && !strings.Contains(got.String(), want); {
			var n int
			n, err = resp.Body.Read(buffer)
			got.Write(buffer[:n])
		}
		received <- struct{}{}
		rest, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !strings.Contains(string(rest), "end") {
			t.Errorf("%s: %v, %q", target, err, rest)
		}
	}
}

// TestHomeQuery requests the first page with queries.
func TestHomeQuery(t *testing.T) {
	live := newLive(t, func(o *Options) { o.Base = "/web" })
	const own, empty = "Sec-Fetch-Site: same-origin", `value="" autocapitalize`
	for name, c := range map[string]struct {
		query, field string
		status       int
		want         []string
	}{
		"a URL":              {"?url=gopher://g.example/1/%22%3E", own, 200, []string{`value="gopher://g.example/1/&#34;&gt;"`}},
		"from a bookmark":    {"?url=g.example", strings.Join(navigation, "\n"), 200, []string{`value="g.example"`}},
		"from another site":  {"?url=g.example", "Sec-Fetch-Site: cross-site", 200, []string{empty, "!g.example"}},
		"from another port":  {"?url=g.example", "Sec-Fetch-Site: same-site", 200, []string{empty, "!g.example"}},
		"control characters": {"?url=a%00%E2%80%AEb", own, 200, []string{"!\x00", "!\u202e"}},
		"another name":       {"?x=1", own, 200, []string{empty}},
		"empty query":        {"?", own, 200, []string{empty}},
		"an invalid query":   {"?url=%zz", own, 400, nil},
		"a token":            {"?url=g.example&token=x", own, 403, []string{"The token is invalid"}},
	} {
		checkResponse(t, get(live, "GET", "/web/"+c.query, strings.Split(c.field, "\n")...), c.status, c.want)
		if t.Failed() {
			t.Fatal(name)
		}
	}
	checkResponse(t, get(newHandler(t, nil), "GET", "/?url=x"), 200, []string{"sample.warc.gz</a>", "!<form"})
}

// TestMetadataService checks that no page offers to open the URL of a metadata
// service, because the policy would deny it again.
func TestMetadataService(t *testing.T) {
	h, n := newIsolated(t, nil)
	n.names["rebound.example"] = "169.254.169.254"
	entered, link := guard.Permission{Level: guard.Entered}, from("gopher://public.example/1/", "198.41.0.4")
	for target, offered := range map[string]bool{
		signed(h, entered, "http://169.254.169.254/"):        false,
		signed(h, entered, "http://[::ffff:169.254.170.2]/"): false,
		signed(h, entered, "http://rebound.example/"):        false,
		signed(h, link, "http://169.254.169.254/"):           false,
		"/live/http://rebound.example/":                      false,
		signed(h, entered, "http://private.example/"):        true,
		signed(h, entered, "http://169.254.1.1/"):            true,
		signed(h, link, "http://private.example/"):           true,
	} {
		w := get(h, "GET", target)
		if w.Code != 403 || strings.Contains(w.Body.String(), "<button>") != offered {
			t.Errorf("%s: %d, offered must be %v: %s", target, w.Code, offered, w.Body)
		}
	}
	if got := n.take(); got != nil {
		t.Errorf("connections %q", got)
	}
}
