package fetch

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/uri"
)

// names is a Resolver. It returns an answer that begins with "!" only once, and
// then the next answer, like a name that rebinds.
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

// recorder records dialed addresses. Its connections are pipes that never
// answer.
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

// page is a scheme whose driver dials its target and returns the response that
// the test has for the URL.
func page(answer func(req *Request, resp *Response)) Scheme { return pageOf("http", 80, answer) }

func pageOf(name string, port uint16, answer func(req *Request, resp *Response)) Scheme {
	ports, links := scheme.Ports{Class: scheme.TextPorts}, scheme.Links{To: []string{name}}
	switch name {
	case "http":
		ports, links.To = scheme.Ports{Extra: []uint16{443}, Class: scheme.WebPorts}, []string{"http", "https", "ftp"}
	case "https":
		ports.Class, links.Downgrade = scheme.WebPorts, []string{"http"}
	case "nntps":
		links.To = []string{"nntps", "snews"}
	}
	return Scheme{
		Name: name, Port: port, Ports: ports, Links: links, Secure: name == "https",
		Plan: func(req *Request) ([]scheme.Step, error) {
			return []scheme.Step{{Verb: "GET", Arg: req.URL.Path()}}, nil
		},
		Open: func(env Env) Driver {
			return DriverFunc(func(ctx context.Context, req *Request) (*Response, error) {
				t, err := TargetOf(req.URL, port)
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

// TestIdleWrite checks that a write to a peer that reads nothing times out, at
// the deadline of the driver if that is earlier.
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

// TestLocalSchemes checks that a URL from a server cannot read local files.
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
		s := Scheme{Name: "file", Local: true, Open: func(Env) Driver {
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

// TestEndedContext checks that no request starts after the end of its context.
func TestEndedContext(t *testing.T) {
	s := page(nil)
	s.Open = func(Env) Driver {
		return DriverFunc(func(context.Context, *Request) (*Response, error) {
			t.Error("the driver was called")
			return nil, NotFound
		})
	}
	c := New(Options{Policy: Typed()}, s)
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.Get(ctx, "http://a.example/")
	var e *Error
	if !errors.As(err, &e) || e.Op != "get" || FaultOf(err) != Canceled {
		t.Errorf("got %v", err)
	}
}

// TestQueryError checks that the error of a failed search has the URL.
func TestQueryError(t *testing.T) {
	s := page(nil)
	for _, query := range []func(uri.URI, Search) (uri.URI, error){
		nil,
		func(uri.URI, Search) (uri.URI, error) { return uri.URI{}, Usage.Errorf("no index") },
	} {
		s.Query = query
		c := New(Options{}, s)
		_, err := c.Query(uri.MustParse("http://a.example/x"), Search{Words: "a"})
		var e *Error
		if !errors.As(err, &e) || e.Op != "search" || e.URL != "http://a.example/x" {
			t.Errorf("got %v", err)
		}
		c.Close()
	}
}

// TestSearch checks which queries reach the function Query of a scheme.
func TestSearch(t *testing.T) {
	u := uri.MustParse("http://a.example/x")
	like := []uri.URI{u}
	for name, c := range map[string]struct {
		query    Search
		feedback bool
		want     Fault
	}{
		"words":                               {Search{Words: "a"}, false, 0},
		"no words":                            {Search{}, true, NeedQuery},
		"similar documents":                   {Search{Like: like}, true, 0},
		"similar documents without the trait": {Search{Words: "a", Like: like}, false, Unsupported},
	} {
		s := page(nil)
		s.Query = func(u uri.URI, _ Search) (uri.URI, error) { return u, nil }
		s.Traits.Feedback = c.feedback
		got, err := s.Search(u, c.query)
		if (err != nil || c.want != 0) && FaultOf(err) != c.want || err == nil && got.String() != u.String() {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
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
	if _, err := c.Do(t.Context(), &Request{URL: uri.MustParse("http://8.8.8.8/"), Range: Range{End: -5}}); !errors.Is(err, Usage) {
		t.Errorf("negative end of a range: got %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Get(t.Context(), "http://8.8.8.8/"); !errors.Is(err, Usage) {
		t.Errorf("closed: got %v", err)
	}
}
