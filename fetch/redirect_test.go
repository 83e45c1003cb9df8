package fetch

import (
	"cmp"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/anyurl/fetch/uri"
)

func TestRedirects(t *testing.T) {
	start := "http://u:p@a.example/0"
	answers := names{"a.example": {"8.8.8.8"}, "b.example": {"1.1.1.1"}, "in.example": {"10.0.0.1"}, "me.example": {"127.0.0.1"}}
	for _, c := range []struct {
		name   string
		hops   []string
		policy Policy
		fault  Fault
		auth   string // credential that each hop received
	}{
		{"same origin keeps", []string{"http://a.example/1"}, Typed(), 0, "u u"},
		{"other host drops", []string{"http://b.example/1"}, Typed(), 0, "u -"},
		{"other port drops", []string{"http://a.example:8080/1"}, Typed(), 0, "u -"},
		{"nothing comes back", []string{"http://b.example/1", "http://a.example/2"}, Typed(), 0, "u - -"},
		{"nothing comes back later", []string{"http://b.example/1", "http://b.example/2"}, Typed(), 0, "u - -"},
		{"userinfo of a server", []string{"http://v:w@b.example/1"}, Typed(), 0, "u -"},
		{"trusted", []string{"http://b.example/1"}, Policy{reach: anywhere, LocationTrusted: true}, 0, "u u"},
		{"loop", []string{"http://a.example/1", "http://u:p@a.example/0"}, Typed(), Loop, "u u"},
		{"to itself, and then the object", []string{start, start, "http://a.example/1"}, Typed(), 0, "u u u u"},
		{"to itself too often", []string{start, start, start}, Policy{MaxHops: 2}, Loop, "u u u"},
		{"loop by way of itself", []string{"http://a.example/1", "http://a.example/1", start}, Typed(), Loop, "u u u"},
		{"too many", []string{"http://a.example/1", "http://a.example/2"}, Policy{MaxHops: 1}, Loop, "u u"},
		{"none allowed", []string{"http://a.example/1"}, Policy{MaxHops: -1}, Loop, "u"},
		{"to private", []string{"http://in.example/"}, Typed(), BadAddress, "u"},
		{"to this machine", []string{"http://127.0.0.1:6379/"}, Typed(), BadAddress, "u"},
		{"to this machine by name", []string{"http://me.example/"}, Typed(), BadAddress, "u"},
		{"to a file", []string{"file:///etc/passwd"}, Typed(), BadReferral, "u"},
		{"to a bad port", []string{"http://b.example:25/"}, Typed(), BadPort, "u"},
		{"to an unknown scheme", []string{"x:y"}, Typed(), Unsupported, "u"},
	} {
		var saw []string
		s := page(func(req *Request, resp *Response) {
			who := "-"
			if req.Auth != nil {
				who = req.Auth.User
			}
			if got := req.Header.Get("X-Api-Key"); (got == "") != (who == "-") {
				t.Errorf("%s: secret header %q beside user %s", c.name, got, who)
			}
			if req.Header.Get("Accept") != "a/b" {
				t.Errorf("%s: Accept was lost", c.name)
			}
			saw = append(saw, who)
			text(resp, "x")
			if n := len(saw); n <= len(c.hops) {
				resp.Location = uri.MustParse(c.hops[n-1])
			}
		})
		file := Scheme{Name: "file", Local: true, Plan: s.Plan, Open: s.Open}
		r := &recorder{}
		client := New(Options{Policy: c.policy, Resolver: answers, Dial: r.dial}, s, file)
		req := &Request{URL: uri.MustParse(start), Header: Header{{"X-Api-Key", "k"}, {"Accept", "a/b"}}}
		resp, err := client.Do(t.Context(), req)
		if FaultOf(err) != c.fault {
			t.Errorf("%s: got %v, want %v", c.name, err, c.fault)
		}
		// The Policy is checked before the driver is called, except for
		// resolved addresses.
		if got := strings.Join(saw, " "); got != c.auth && got != strings.TrimSpace(c.auth+" -") {
			t.Errorf("%s: hops saw %q, want %q", c.name, got, c.auth)
		}
		if err == nil {
			if len(resp.Chain) != len(c.hops) || resp.URL.WithoutFragment().Unredacted() == start {
				t.Errorf("%s: chain %v, at %v", c.name, resp.Chain, resp.URL)
			}
			resp.Body.Close()
		}
		client.Close()
		if strings.Contains(r.addresses(), "127.0.0.1") || strings.Contains(r.addresses(), "10.0.0.1") {
			t.Errorf("%s: dialled %s", c.name, r.addresses())
		}
	}
}

// TestHostOrigin checks that a Host field of the caller is sent only to
// the origin of its URL, and is not restored by a later redirect.
func TestHostOrigin(t *testing.T) {
	for _, c := range []struct {
		name    string
		hops    []string
		trusted bool
		want    string
	}{
		{"same origin", []string{"http://8.8.8.8/b"}, false, "bank bank"},
		{"other host", []string{"http://1.1.1.1/"}, false, "bank -"},
		{"other port", []string{"http://8.8.8.8:8080/"}, false, "bank -"},
		{"other scheme", []string{"https://8.8.8.8/"}, false, "bank -"},
		{"there and back", []string{"http://1.1.1.1/", "http://8.8.8.8/c"}, false, "bank - -"},
		{"whom it trusts", []string{"http://1.1.1.1/"}, true, "bank -"},
	} {
		var saw []string
		answer := func(req *Request, resp *Response) {
			saw = append(saw, cmp.Or(req.Header.Get("Host"), "-"))
			text(resp, "")
			if n := len(saw); n <= len(c.hops) {
				resp.Location = uri.MustParse(c.hops[n-1])
			}
			if (req.Header.Get("Cookie") != "") != (c.trusted || saw[len(saw)-1] != "-") {
				t.Errorf("%s: cookie %q", c.name, req.Header.Get("Cookie"))
			}
		}
		policy := Typed()
		policy.LocationTrusted = c.trusted
		client := New(Options{Policy: policy, Dial: (&recorder{}).dial}, page(answer), pageOf("https", 443, answer))
		req := &Request{URL: uri.MustParse("http://8.8.8.8/"), Header: Header{{"hOST", "bank"}, {"Cookie", "a=b"}}}
		if _, err := client.Do(t.Context(), req); err != nil || strings.Join(saw, " ") != c.want {
			t.Errorf("%s: got %v, %v, want %s", c.name, saw, err, c.want)
		}
		client.Close()
	}
}

// TestRefererDowngrade checks that a redirect from TLS to plaintext drops the
// Referer of the caller, and that no later redirect restores it.
func TestRefererDowngrade(t *testing.T) {
	for _, c := range []struct {
		name     string
		urls     []string
		trusting bool
		want     string
	}{
		{"plaintext", []string{"http://8.8.8.8/", "http://1.1.1.1/"}, false, "page page"},
		{"TLS", []string{"https://8.8.8.8/", "https://1.1.1.1/"}, false, "page page"},
		{"plaintext to TLS", []string{"http://8.8.8.8/", "https://1.1.1.1/"}, false, "page page"},
		{"TLS to plaintext", []string{"https://8.8.8.8/", "http://1.1.1.1/"}, false, "page -"},
		{"on the same host", []string{"https://8.8.8.8/", "http://8.8.8.8/"}, false, "page -"},
		{"whom it trusts", []string{"https://8.8.8.8/", "http://8.8.8.8/"}, true, "page -"},
		{"there and back", []string{"https://8.8.8.8/", "http://8.8.8.8/", "https://8.8.8.8/2"}, false, "page - -"},
	} {
		var saw []string
		answer := func(req *Request, resp *Response) {
			saw = append(saw, cmp.Or(req.Header.Get("Referer"), "-"))
			text(resp, "")
			if n := len(saw); n < len(c.urls) {
				resp.Location = uri.MustParse(c.urls[n])
			}
		}
		policy := Typed()
		policy.Downgrade, policy.LocationTrusted = true, c.trusting
		client := New(Options{Policy: policy, Dial: (&recorder{}).dial}, page(answer), pageOf("https", 443, answer))
		req := &Request{URL: uri.MustParse(c.urls[0]), Header: Header{{"rEFERER", "page"}}}
		if _, err := client.Do(t.Context(), req); err != nil || strings.Join(saw, " ") != c.want {
			t.Errorf("%s: got %v, %v, want %s", c.name, saw, err, c.want)
		}
		client.Close()
	}
}

func TestFragmentInheritance(t *testing.T) {
	first := true
	c := New(Options{Dial: (&recorder{}).dial}, page(func(req *Request, resp *Response) {
		text(resp, "")
		if first {
			first, resp.Location = false, uri.MustParse("http://8.8.8.8/b")
		}
	}))
	defer c.Close()
	resp, err := c.Get(t.Context(), "http://8.8.8.8/a#f")
	if err != nil || resp.URL.Unredacted() != "http://8.8.8.8/b#f" {
		t.Errorf("got %v, %v", resp, err)
	}
}

func TestNoFollow(t *testing.T) {
	c := New(Options{Dial: (&recorder{}).dial}, page(func(req *Request, resp *Response) {
		text(resp, "moved")
		resp.Location = uri.MustParse("file:///x")
	}))
	defer c.Close()
	resp, err := c.Do(t.Context(), &Request{URL: uri.MustParse("http://8.8.8.8/"), NoFollow: true})
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := io.ReadAll(resp.Body); string(b) != "moved" || resp.Location.IsZero() {
		t.Errorf("got %q, %v", b, resp.Location)
	}
}

func TestLoginOrigin(t *testing.T) {
	asked := 0
	login := func(_ context.Context, ch Challenge) (*Credential, error) {
		asked++
		return &Credential{User: "u"}, nil
	}
	first := true
	s := page(nil)
	s.Trust = []string{"named:119"}
	s.Open = func(env Env) Driver {
		return DriverFunc(func(ctx context.Context, req *Request) (*Response, error) {
			target, _ := TargetOf(req.URL, 80)
			if _, err := env.Login(ctx, Challenge{Origin: target.Origin()}); err != nil {
				return nil, err
			}
			if cred, _ := env.Login(ctx, Challenge{Origin: Origin{"http", "other", 80}}); cred != nil {
				t.Error("a credential for somebody else")
			}
			if cred, _ := env.Login(ctx, Challenge{Origin: Origin{"http", "named", 119}}); (cred != nil) != req.Typed() {
				t.Errorf("typed %v: credential %v for a server that the configuration named", req.Typed(), cred)
			}
			resp := &Response{Body: io.NopCloser(strings.NewReader("")), Size: 0}
			if first {
				first, resp.Location = false, uri.MustParse("http://1.1.1.1/")
			}
			return resp, nil
		})
	}
	c := New(Options{Login: login}, s)
	defer c.Close()
	if _, err := c.Get(t.Context(), "http://8.8.8.8/"); err != nil || asked != 2 {
		t.Errorf("asked %d times, want once, and once for the named server: the redirect went elsewhere (%v)", asked, err)
	}
}

// TestRedirected checks the request with which a Middleware follows a redirect.
func TestRedirected(t *testing.T) {
	for _, c := range []struct {
		name, to, want string
		left           bool
	}{
		{"same origin", "http://a.test/x", "http://a.test/x", false},
		{"another host", "http://b.test/x", "http://b.test/x", true},
		{"a host that requires https", "http://secure.test/x", "https://secure.test/x", true},
		{"with a login", "http://u:p@b.test/x", "http://b.test/x", true},
		{"unknown scheme", "unknown://b.test/", "", false},
	} {
		var next *Request
		var failed error
		follows := func(inner Driver) Driver {
			return DriverFunc(func(ctx context.Context, req *Request) (*Response, error) {
				next, failed = req.Redirected(&Response{Location: uri.MustParse(c.to)})
				return inner.Do(ctx, req)
			})
		}
		upgrade := func(u uri.URI) uri.URI {
			if u.Host() == "secure.test" {
				return uri.MustParse("https://secure.test/x")
			}
			return u
		}
		client := New(Options{Policy: Typed(), Wrap: []Middleware{follows}, Upgrade: upgrade, Dial: (&recorder{}).dial, Resolver: names{"a.test": {"8.8.8.8"}}},
			page(func(_ *Request, resp *Response) { text(resp, "x") }), pageOf("https", 443, nil))
		resp, err := client.Do(t.Context(), &Request{URL: uri.MustParse("http://a.test/"), Auth: &Credential{User: "u", Password: "p"}})
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		client.Close()
		switch {
		case c.want == "":
			if FaultOf(failed) != Unsupported {
				t.Errorf("%s: got %v", c.name, failed)
			}
		case failed != nil || next.URL.String() != c.want || next.leftOrigin != c.left || next.Auth != nil || next.Typed():
			t.Errorf("%s: got %+v, %v", c.name, next, failed)
		}
	}
}
