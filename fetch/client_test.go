package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/uri"
)

// names is a Resolver; an answer that begins with "!" is served once and then
// gives way to the next: a name that rebinds.
type names map[string][]string

func (n names) LookupNetIP(_ context.Context, _, host string) (addrs []netip.Addr, err error) {
	host = strings.TrimSuffix(host, ".")
	answers, ok := n[host]
	if !ok {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	for _, a := range answers {
		addrs = append(addrs, netip.MustParseAddr(a))
	}
	return addrs, nil
}

// recorder is Options.Dial over pipes that nobody answers.
type recorder struct {
	mu     sync.Mutex
	dialed []string
	fail   map[string]error
}

func (r *recorder) dial(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
	r.mu.Lock()
	r.dialed = append(r.dialed, to.String())
	err := r.fail[to.String()]
	r.mu.Unlock()
	if err != nil {
		return nil, err
	}
	here, _ := net.Pipe()
	return here, nil
}

func (r *recorder) addresses() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.dialed, " ")
}

// page is a scheme whose driver dials its target and answers what the test
// says of the URL.
func page(answer func(req *Request, resp *Response)) Scheme {
	return Scheme{
		Name: "http", Port: 80,
		Plan: func(req *Request) ([]Step, error) { return []Step{{Verb: "GET", Arg: req.URL.Path()}}, nil },
		Open: func(env Env) Driver {
			return DriverFunc(func(ctx context.Context, req *Request) (*Response, error) {
				t, err := TargetOf(req.URL, 80)
				if err != nil {
					return nil, err
				}
				c, err := env.Net.DialContext(ctx, "tcp", t.Address())
				if err != nil {
					return nil, err
				}
				resp := &Response{Kind: Document, Size: -1, Peer: PeerOf(c), Body: c}
				answer(req, resp)
				return resp, nil
			})
		},
	}
}

func text(resp *Response, s string) {
	resp.Body = io.NopCloser(strings.NewReader(s))
	resp.Size = int64(len(s))
}

func TestRebinding(t *testing.T) {
	r := &recorder{}
	answers := names{"h.example": {"8.8.8.8", "127.0.0.1", "10.0.0.1"}, "evil.example": {"127.0.0.1", "169.254.169.254"}}
	c := New(Options{Resolver: answers, Dial: r.dial}, page(func(_ *Request, resp *Response) { text(resp, "x") }))
	defer c.Close()
	if _, err := c.Get(t.Context(), "http://h.example/"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), "http://evil.example/"); !errors.Is(err, BadAddress) {
		t.Errorf("every address denied: got %v", err)
	}
	if got := r.addresses(); got != "8.8.8.8:80" {
		t.Errorf("dialled %s, want the public address alone", got)
	}
}

// TestControl proves that the real dialer judges the numeric address again: a
// resolver that lies after the judgement reaches nobody.
func TestControl(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d := newDoor(&Policy{}, Options{})
	to := l.Addr().(*net.TCPAddr).AddrPort()
	refuse := refuseAddress("no", "", "")
	if _, err := d.dialOne(t.Context(), "tcp", to, func(netip.Addr) error { return refuse }); !errors.Is(err, BadAddress) {
		t.Errorf("got %v, want the judge's refusal", err)
	}
	conn, err := d.dialOne(t.Context(), "tcp", to, func(netip.Addr) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
}

func TestNoGrantNoDial(t *testing.T) {
	r := &recorder{}
	d := newDoor(&Policy{Reach: Anywhere}, Options{Dial: r.dial})
	if _, err := d.DialContext(t.Context(), "tcp", "8.8.8.8:80"); !errors.Is(err, BadAddress) {
		t.Errorf("got %v", err)
	}
	if _, err := d.DialProxy(t.Context()); !errors.Is(err, BadAddress) {
		t.Errorf("got %v", err)
	}
	if r.addresses() != "" {
		t.Errorf("dialled %s", r.addresses())
	}
}

// TestServerSuppliedDial: an address that is not the URL's own is the
// server's, except one that the configuration trusts.
func TestServerSuppliedDial(t *testing.T) {
	for _, c := range []struct {
		trust []string
		addr  string
		ok    bool
	}{
		{nil, "127.0.0.1:8080", false},
		{nil, "8.8.8.8:25", false},
		{nil, "8.8.8.8:8080", true},
		{[]string{"127.0.0.1:8080"}, "127.0.0.1:8080", true},
		{[]string{"news.example:8080"}, "127.0.0.1:8080", false},
		{nil, "0x7f.1:80", false},
		{nil, "nonsense", false},
		{nil, ":80", false},
	} {
		r := &recorder{}
		s := page(nil)
		s.Trust = c.trust
		s.Open = func(env Env) Driver {
			return DriverFunc(func(ctx context.Context, req *Request) (*Response, error) {
				conn, err := env.Net.DialContext(ctx, "tcp", c.addr)
				if err != nil {
					return nil, err
				}
				return &Response{Body: conn, Size: -1}, nil
			})
		}
		cl := New(Options{Dial: r.dial}, s)
		resp, err := cl.Get(t.Context(), "http://1.1.1.1/")
		if (err == nil) != c.ok {
			t.Errorf("%s, trust %v: got %v, want ok %v", c.addr, c.trust, err, c.ok)
		}
		if err == nil {
			resp.Body.Close()
		}
		cl.Close()
	}
}

func TestHappyEyeballs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hole := func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
			if to.Addr().Is6() {
				<-ctx.Done() // a broken IPv6 path
				return nil, ctx.Err()
			}
			here, _ := net.Pipe()
			return here, nil
		}
		d := newDoor(&Policy{Reach: Anywhere}, Options{Dial: hole})
		start := time.Now()
		allow := func(netip.Addr) error { return nil }
		got, err := d.race(t.Context(), "tcp", []netip.Addr{netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("192.0.2.1")}, 80, allow)
		if err != nil || got.to.String() != "192.0.2.1:80" || time.Since(start) != raceDelay {
			t.Errorf("got %v, %v after %v", got.to, err, time.Since(start))
		}
		start = time.Now()
		_, err = d.race(t.Context(), "tcp", []netip.Addr{netip.MustParseAddr("2001:db8::1")}, 80, allow)
		if FaultOf(err) != Timeout || time.Since(start) != 10*time.Second {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
	})
}

func TestRedirects(t *testing.T) {
	start := "http://u:p@a.example/0"
	answers := names{"a.example": {"8.8.8.8"}, "b.example": {"1.1.1.1"}, "in.example": {"10.0.0.1"}, "me.example": {"127.0.0.1"}}
	for _, c := range []struct {
		name   string
		hops   []string
		policy Policy
		fault  Fault
		auth   string // what each hop saw
	}{
		{"same origin keeps", []string{"http://a.example/1"}, Typed(), 0, "u u"},
		{"other host drops", []string{"http://b.example/1"}, Typed(), 0, "u -"},
		{"other port drops", []string{"http://a.example:8080/1"}, Typed(), 0, "u -"},
		{"nothing comes back", []string{"http://b.example/1", "http://a.example/2"}, Typed(), 0, "u - -"},
		{"nothing comes back later", []string{"http://b.example/1", "http://b.example/2"}, Typed(), 0, "u - -"},
		{"userinfo of a server", []string{"http://v:w@b.example/1"}, Typed(), 0, "u -"},
		{"trusted", []string{"http://b.example/1"}, Policy{Reach: Anywhere, Trusting: true}, 0, "u u"},
		{"loop", []string{"http://a.example/1", "http://u:p@a.example/0"}, Typed(), Loop, "u u"},
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
		file := Scheme{Name: "file", Plan: s.Plan, Open: s.Open}
		r := &recorder{}
		client := New(Options{Policy: c.policy, Resolver: answers, Dial: r.dial}, s, file)
		req := &Request{URL: uri.MustParse(start), Header: Header{{"X-Api-Key", "k"}, {"Accept", "a/b"}}}
		resp, err := client.Do(t.Context(), req)
		if FaultOf(err) != c.fault {
			t.Errorf("%s: got %v, want %v", c.name, err, c.fault)
		}
		// The judgement comes before the driver, except of a name's address.
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

func TestFragmentIsInherited(t *testing.T) {
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

func TestBodyIsProved(t *testing.T) {
	for _, c := range []struct {
		name, sent string
		size       int64
		rng        Range
		max        int64
		want       string
		fault      Fault
	}{
		{"whole", "hello", 5, Range{}, 0, "hello", 0},
		{"short", "hell", 5, Range{}, 0, "hell", Truncated},
		{"long", "hello!", 5, Range{}, 0, "hello", Protocol},
		{"unknown", "hello", -1, Range{}, 0, "hello", 0},
		{"range", "he", 5, Range{0, 2}, 0, "he", 0},
		{"suffix with an end of no account", "hello", 5, Range{-5, 2}, 0, "hello", 0},
		{"short range", "h", 5, Range{0, 2}, 0, "h", Truncated},
		{"no range kept", "hello", 5, Range{1, 2}, 0, "hello", 0},
		{"limit", "hello", -1, Range{}, 4, "hello", TooLarge},
	} {
		cl := New(Options{Policy: Policy{MaxBody: c.max}, Dial: (&recorder{}).dial}, page(func(_ *Request, resp *Response) {
			text(resp, c.sent)
			resp.Size = c.size
		}))
		resp, err := cl.Do(t.Context(), &Request{URL: uri.MustParse("http://u:secret@8.8.8.8/"), Range: c.rng})
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		if string(got) != c.want || FaultOf(err) != c.fault || err != nil && strings.Contains(fmt.Sprint(err), "secret") {
			t.Errorf("%s: got %q, %v", c.name, got, err)
		}
		if _, again := resp.Body.Read(make([]byte, 1)); err != nil && again != err {
			t.Errorf("%s: the error did not stick: %v", c.name, again)
		}
		resp.Body.Close()
		cl.Close()
	}
}

// TestSlowDrip: a server that sends a little for ever is a stall; a reader
// that takes its time is not.
func TestSlowDrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var server sync.WaitGroup
		drip := func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
			here, there := net.Pipe()
			server.Go(func() {
				for range time.Tick(time.Second) {
					if _, err := there.Write(make([]byte, 5)); err != nil {
						return
					}
				}
			})
			return here, nil
		}
		c := New(Options{Policy: Policy{MaxTime: -1}, Dial: drip}, page(func(*Request, *Response) {}))
		defer c.Close()
		resp, err := c.Get(t.Context(), "http://8.8.8.8/")
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		n, err := io.Copy(io.Discard, resp.Body)
		if FaultOf(err) != Timeout || time.Since(start) > 61*time.Second || n == 0 {
			t.Errorf("got %d bytes, %v after %v", n, err, time.Since(start))
		}
		resp.Body.Close()
		server.Wait()
	})
}

func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Options{Dial: (&recorder{}).dial}, page(func(*Request, *Response) {}))
		defer c.Close()
		resp, err := c.Get(t.Context(), "http://8.8.8.8/")
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, err := resp.Body.Read(make([]byte, 1)); FaultOf(err) != Timeout || time.Since(start) != time.Minute {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
		resp.Body.Close()
	})
}

// TestIdleWrite: a peer that takes nothing is given up like one that says
// nothing, at the deadline of the driver if that is earlier.
func TestIdleWrite(t *testing.T) {
	for asked, want := range map[time.Duration]time.Duration{0: time.Minute, time.Second: time.Second, time.Hour: time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			s := page(nil)
			s.Open = func(env Env) Driver {
				return DriverFunc(func(ctx context.Context, req *Request) (*Response, error) {
					conn, err := env.Net.DialContext(ctx, "tcp", "8.8.8.8:80")
					if err != nil {
						return nil, err
					}
					defer conn.Close()
					if asked > 0 {
						conn.SetWriteDeadline(time.Now().Add(asked))
					}
					_, err = conn.Write([]byte("GET"))
					return nil, err
				})
			}
			c := New(Options{Dial: (&recorder{}).dial}, s)
			defer c.Close()
			start := time.Now()
			if _, err := c.Get(t.Context(), "http://8.8.8.8/"); FaultOf(err) != Timeout || time.Since(start) != want {
				t.Errorf("deadline in %v: got %v after %v, want %v", asked, err, time.Since(start), want)
			}
		})
	}
}

func TestCancelIsNamed(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := New(Options{Dial: (&recorder{}).dial}, page(func(*Request, *Response) {}))
	defer c.Close()
	resp, err := c.Get(ctx, "http://8.8.8.8/")
	if err != nil {
		t.Fatal(err)
	}
	context.AfterFunc(ctx, func() { resp.Body.(*body).ReadCloser.Close() })
	cancel()
	if _, err := resp.Body.Read(make([]byte, 1)); !errors.Is(err, Canceled) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestLocalSchemes: a URL from a stranger does not read this machine.
func TestLocalSchemes(t *testing.T) {
	for _, c := range []struct {
		policy Policy
		fault  Fault
	}{
		{Public(), BadReferral},
		{Allowlist("a.example"), BadReferral},
		{Policy{Schemes: []string{"file"}}, 0},
		{Typed(), 0},
	} {
		s := Scheme{Name: "file", Open: func(Env) Driver {
			return DriverFunc(func(context.Context, *Request) (*Response, error) {
				return &Response{Body: io.NopCloser(strings.NewReader("")), Size: -1}, nil
			})
		}}
		cl := New(Options{Policy: c.policy}, s)
		if _, err := cl.Get(t.Context(), "file:///etc/passwd"); FaultOf(err) != c.fault {
			t.Errorf("%+v: got %v, want %v", c.policy, err, c.fault)
		}
		cl.Close()
	}
}

func TestUnknownSchemes(t *testing.T) {
	c := New(Options{}, page(nil))
	defer c.Close()
	for _, s := range []string{"urn:isbn:1", "afs://h/x", "nfs://h/x", "x500:x", "whois++:x", "z39.50r://h/d", "mailserver:x", "x-y:z"} {
		if _, err := c.Get(t.Context(), s); !errors.Is(err, Unsupported) {
			t.Errorf("%s: got %v", s, err)
		}
	}
	for _, s := range []string{"http://h h/", "//h/", "", "http://a@b@c/"} {
		_, err := c.Get(t.Context(), s)
		if !errors.Is(err, BadURL) || s != "" && strings.Contains(err.Error(), "@b") {
			t.Errorf("%q: got %v", s, err)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Get(t.Context(), "http://8.8.8.8/"); !errors.Is(err, Usage) {
		t.Errorf("closed: got %v", err)
	}
}

func TestLoginIsForTheOrigin(t *testing.T) {
	asked := 0
	login := func(_ context.Context, ch Challenge) (*Credential, error) {
		asked++
		return &Credential{User: "u"}, nil
	}
	first := true
	s := page(nil)
	s.Open = func(env Env) Driver {
		return DriverFunc(func(ctx context.Context, req *Request) (*Response, error) {
			target, _ := TargetOf(req.URL, 80)
			if _, err := env.Login(ctx, Challenge{Origin: target.Origin()}); err != nil {
				return nil, err
			}
			if cred, _ := env.Login(ctx, Challenge{Origin: Origin{"http", "other", 80}}); cred != nil {
				t.Error("a credential for somebody else")
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
	if _, err := c.Get(t.Context(), "http://8.8.8.8/"); err != nil || asked != 1 {
		t.Errorf("asked %d times, want once: the redirect went elsewhere (%v)", asked, err)
	}
}
