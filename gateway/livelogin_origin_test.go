package gateway

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/anyurl/fetch/gateway/internal/guard"
	"github.com/anyurl/fetch/uri"
)

// A loginServer is a web server with a login that records all Authorization fields.
type loginServer struct {
	*httptest.Server
	mu   sync.Mutex
	seen []string
}

func newLoginServer(t *testing.T, to func() string) *loginServer {
	r := new(loginServer)
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if a := req.Header.Get("Authorization"); a != "" {
			r.seen = append(r.seen, req.URL.Path)
		}
		if req.Header.Get("Authorization") == "" {
			w.Header().Set("WWW-Authenticate", `Basic realm="<b>private"`)
			w.WriteHeader(401)
			return
		}
		if req.URL.Path == "/away" {
			http.Redirect(w, req, to(), http.StatusFound)
			return
		}
		fmt.Fprintf(w, "text of %s", req.URL.Path)
	}))
	t.Cleanup(r.Close)
	return r
}

// take returns the paths of the requests with a login since the last call.
func (r *loginServer) take() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() { r.seen = nil }()
	return strings.Join(r.seen, " ")
}

// TestLoginOrigin checks for which URLs a login is used.
func TestLoginOrigin(t *testing.T) {
	var first, second *loginServer
	first = newLoginServer(t, func() string { return second.URL + "/target" })
	second = newLoginServer(t, func() string { return first.URL + "/target" })
	h := newLive(t, nil)
	v := newVisitor(t, h)
	if page := v.login(v.open(first.URL+"/a"), "alice", "first pass"); page.Code != 200 {
		t.Fatalf("%d %s", page.Code, page.Body)
	}
	first.take()
	link := func(page, target string) string { return signed(h, from(page, "127.0.0.1"), target) }
	feed := liveTarget{url: uri.MustParse(first.URL + "/a"), feed: true}.path("", "")
	for _, c := range []struct {
		name, target      string
		fields            []string
		firstWas, secondW string // paths that were requested with a login
	}{
		{"entered", signed(h, guard.Permission{Level: guard.Confirmed}, first.URL+"/b"), []string{v.cookie}, "/b", ""},
		{"a link of the same server", link(first.URL+"/a", first.URL+"/b"), []string{v.cookie}, "/b", ""},
		{"a link of another server", link(second.URL+"/a", first.URL+"/b"), []string{v.cookie}, "", ""},
		{"a link of another scheme", link("gopher://127.0.0.1/1/", first.URL+"/b"), []string{v.cookie}, "", ""},
		{"another server", link(first.URL+"/a", second.URL+"/b"), []string{v.cookie}, "", ""},
		{"another server, entered", signed(h, guard.Permission{Level: guard.Confirmed}, second.URL+"/b"), []string{v.cookie}, "", ""},
		{"the address bar", "/live/" + first.URL + "/b", append([]string{v.cookie}, navigation...), "", ""},
		{"no cookie", signed(h, guard.Permission{Level: guard.Confirmed}, first.URL+"/b"), nil, "", ""},
		{"content in the sandbox", link(first.URL+"/a", first.URL+"/b"), []string{"Origin: null", "Sec-Fetch-Site: cross-site"}, "", ""},
		{"another user in the URL", signed(h, guard.Permission{Level: guard.Confirmed}, strings.Replace(first.URL, "//", "//bob@", 1)+"/b"),
			[]string{v.cookie}, "", ""},
		{"a feed", feed, []string{v.cookie}, "", ""},
	} {
		get(h, "GET", c.target, c.fields...)
		if a, b := first.take(), second.take(); a != c.firstWas || b != c.secondW {
			t.Errorf("%s: %q and %q were requested with a login, want %q and %q", c.name, a, b, c.firstWas, c.secondW)
		}
	}
	if page := v.get("/live/" + first.URL + "/b"); !strings.Contains(page.Body.String(), "You have entered a login of alice") {
		t.Errorf("the page does not offer the login: %s", page.Body)
	}
	// The redirect of the server leads to another origin, and back.
	moved := v.open(first.URL + "/away")
	if moved.Code != 302 || first.take() != "/away" {
		t.Fatalf("the redirect: %d", moved.Code)
	}
	if page := v.get(moved.Header().Get("Location")); !asks(page) || second.take() != "" {
		t.Errorf("after the redirect: %d %s", page.Code, page.Body)
	}
	if page := v.login(v.open(second.URL+"/away"), "bob", "second pass"); page.Code != 302 {
		t.Fatalf("%d %s", page.Code, page.Body)
	} else if back := v.get(page.Header().Get("Location")); !strings.Contains(back.Body.String(), "was not used") || first.take() != "" {
		t.Errorf("a redirect from another server used the login: %d %s", back.Code, back.Body)
	}
	if all := v.seen.String(); strings.Contains(all, "first pass") || strings.Contains(all, "second pass") || strings.Contains(all, "<b>private") {
		t.Error("a response contains a password or a realm")
	}
}

// TestLoginRefused sends forms that are not on a page of the session.
func TestLoginRefused(t *testing.T) {
	s := newLoginServer(t, nil)
	h := newLive(t, nil)
	v, other := newVisitor(t, h), newVisitor(t, h)
	valid := fieldsOf(v.open(s.URL + "/a").Body.String())
	own := []string{"Origin: http://localhost:8700", "Sec-Fetch-Site: same-origin"}
	for _, c := range []struct {
		name   string
		change func(url.Values)
		fields []string
		status int
	}{
		{"no cookie", nil, own, 403},
		{"cookie of another session", nil, append([]string{other.cookie}, own...), 403},
		{"no token", func(f url.Values) { f.Del("token") }, nil, 403},
		{"token of another form", func(f url.Values) { f.Set("token", h.gate.key.Token(guard.FormToken)) }, nil, 403},
		{"foreign Origin", nil, []string{v.cookie, "Origin: http://evil.example"}, 403},
		{"opaque Origin", nil, []string{v.cookie, "Origin: null"}, 403},
		{"cross-site", nil, []string{v.cookie, "Sec-Fetch-Site: cross-site"}, 403},
		{"same-site", nil, []string{v.cookie, "Sec-Fetch-Site: same-site"}, 403},
		{"no user", func(f url.Values) { f.Del("user") }, nil, 400},
		{"line break", func(f url.Values) { f.Set("password", "a\r\nb") }, nil, 400},
		{"no URL", func(f url.Values) { f.Del("url") }, nil, 400},
		{"unknown scheme", func(f url.Values) { f.Set("url", "nosuch://a/") }, nil, 400},
		{"password in the URL", func(f url.Values) { f.Set("url", "ftp://a:b@c/") }, nil, 403},
		{"valid", nil, nil, 303},
	} {
		form := url.Values{"user": {"alice"}, "password": {"secret pass"}}
		for name := range valid {
			form.Set(name, valid.Get(name))
		}
		if c.change != nil {
			c.change(form)
		}
		if w := v.post("/logins", form, c.fields...); w.Code != c.status {
			t.Errorf("%s: %d, want %d: %s", c.name, w.Code, c.status, w.Body)
		}
		if kept := len(h.gate.logins.List(mustSession(t, h, v))) > 0; kept != (c.status == 303) {
			t.Errorf("%s: the login is kept: %v", c.name, kept)
		}
	}
	if w := v.post("/logins?x=1", valid); w.Code != 405 {
		t.Errorf("the form with a query: %d", w.Code)
	}
	if w := get(h, "GET", "/logins"); w.Code != 403 {
		t.Errorf("the list without a cookie: %d", w.Code)
	}
	if w := v.post("/logins", url.Values{"token": {valid.Get("token")}, "all": {"yes"}}); w.Code != 303 || len(h.gate.logins.List(mustSession(t, h, v))) > 0 {
		t.Errorf("removing all logins: %d", w.Code)
	}
	if all := v.seen.String(); strings.Contains(all, "secret pass") {
		t.Error("a response contains the password")
	}
}
