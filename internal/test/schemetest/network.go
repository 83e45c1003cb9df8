package schemetest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/uri"
)

// Names checks the errors for a host name that does not exist, and for a
// temporary failure of the resolver.
func Names(t *testing.T, schemes []fetch.Scheme, url string) {
	t.Helper()
	for _, err := range []*net.DNSError{{Err: "no such host", IsNotFound: true}, {Err: "server misbehaving", IsTemporary: true}} {
		c := NewClient(t, schemes, func(o *fetch.Options) {
			o.Resolver = brokenResolver{err}
			o.Dial = func(context.Context, string, netip.AddrPort) (net.Conn, error) {
				t.Error("dialled")
				return nil, syscall.ECONNREFUSED
			}
		})
		if _, got := c.Get(t.Context(), url); !errors.Is(got, fetch.DNS) || fetch.Retryable(got) != err.IsTemporary {
			t.Errorf("%v: got %v", err, got)
		}
	}
}

type brokenResolver struct{ err error }

func (r brokenResolver) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return nil, r.err
}

// A Tunnel describes a test that retrieves a URL through an HTTP proxy.
type Tunnel struct {
	Schemes func() []fetch.Scheme
	URL     string          // URL of an object on the server at Address
	Address string          // "192.0.2.1:210"
	Answer  faultnet.Script // script of the server
	Body    string          // the body that Answer sends
	Cut     faultnet.Script // Answer, truncated in the middle
	CutBody string          // the part of Body that is read before the error
}

// Run checks the result of the request for each reply of the proxy, such as a
// refusal.
func (u Tunnel) Run(t *testing.T) {
	connect := faultnet.Expect("^CONNECT " + u.Address + " HTTP/1.1\r\n(.+\r\n)*\r\n")
	open := faultnet.Script{connect, faultnet.Send("HTTP/1.1 200 ok\r\n\r\n")}
	refused := func(status string) faultnet.Script {
		return faultnet.Script{connect, faultnet.Send("HTTP/1.1 " + status + "\r\nContent-Length: 0\r\n\r\n")}
	}
	for _, test := range []struct {
		name        string
		script      faultnet.Script
		fault, body string
	}{
		{"tunnel", append(open[:2:2], u.Answer...), "ok", u.Body},
		{"ends in the answer", append(open[:2:2], u.Cut...), "truncated", u.CutBody},
		{"requires a login", refused("407 no"), "auth", ""},
		{"refuses", refused("403 no"), "connect", ""},
		{"cannot reach the server", refused("502 no"), "connect", ""},
		{"refuses the connection", faultnet.Script{faultnet.Refuse()}, "connect", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := faultnet.NewNetwork(t)
				s := n.Serve("192.0.2.9:3128", test.script)
				c := NewClient(t, u.Schemes(), func(o *fetch.Options) {
					o.Dial = n.Dial
					o.Proxy = func(fetch.Target) (fetch.Proxy, error) {
						return fetch.Proxy{URL: uri.MustParse("http://192.0.2.9:3128")}, nil
					}
				})
				Exchange(t.Context(), c, NewRequest(t, u.URL)).Check(t, test.fault, test.body, 0)
				c.Close()
				s.Close()
			})
		})
	}
}

// A Sweep repeats a sequence of requests. In each repetition, another network
// operation fails.
type Sweep struct {
	Schemes func() []fetch.Scheme
	Serve   func(*faultnet.Network) (closeServer func())
	URLs    []string // retrieved by one Client, in order
	Body    string   // the expected body of each URL
	Input   string   // written to each session
	Last    string   // a URL that must be retrieved after a failure, or ""
}

// sweepLimit is the time after which a request must have failed.
const sweepLimit = 3 * time.Minute

// Run checks that each body is complete or ends with an error, that the Fault
// of the error is not Internal, and that no request takes longer than three
// minutes.
func (s Sweep) Run(t *testing.T) {
	faultnet.Sweep(t, 1, func(t *testing.T, at int, f faultnet.Failure) (count int) {
		synctest.Test(t, func(t *testing.T) { count = s.run(t, at, f) })
		return count
	})
}

func (s Sweep) run(t *testing.T, at int, f faultnet.Failure) int {
	n := faultnet.NewNetwork(t)
	closeServer := s.Serve(n)
	ctx, b := faultnet.NewBreaker(t.Context(), at, f)
	c := NewClient(t, s.Schemes(), func(o *fetch.Options) { o.Dial = b.Dial(n.Dial) })
	for _, url := range s.URLs {
		r := exchange(ctx, c, NewRequest(t, url), s.Input)
		for _, err := range s.check(r, b.Hit()) {
			t.Errorf("%s: %v", url, err)
		}
	}
	count := b.Count()
	if s.Last != "" {
		Exchange(t.Context(), c, NewRequest(t, s.Last)).Check(t, "ok", s.Body, sweepLimit)
	}
	c.Close()
	synctest.Wait()
	closeServer()
	return count
}

// check returns an error for each rule of Run that a result violates. The
// argument hit is true if a network operation failed.
func (s Sweep) check(r Result, hit bool) (errs []error) {
	session := r.Response != nil && r.Response.Input != nil
	switch {
	case !strings.HasPrefix(s.Body, r.Body):
		errs = append(errs, fmt.Errorf("got %q, which is no part of the body", r.Body))
	case r.Err == nil && r.Body != s.Body && !(session && hit):
		errs = append(errs, fmt.Errorf("got %q without an error", r.Body))
	case r.Err != nil && !hit:
		errs = append(errs, fmt.Errorf("got an error although nothing failed: %w", r.Err))
	case fetch.FaultOf(r.Err) == fetch.Internal:
		errs = append(errs, fmt.Errorf("got an error without a class: %w", r.Err))
	}
	if r.Took > sweepLimit {
		errs = append(errs, fmt.Errorf("took %v", r.Took))
	}
	return errs
}
