package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/netip"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/anyurl/fetch/uri"
)

// TestBrokenContract checks that a scheme or a middleware that violates its
// contract causes an error and no panic.
func TestBrokenContract(t *testing.T) {
	answers := func(resp *Response) Driver {
		return DriverFunc(func(context.Context, *Request) (*Response, error) { return resp, nil })
	}
	opens := func(d Driver) Scheme { return Scheme{Name: "http", Port: 80, Open: func(Env) Driver { return d }} }
	whole := func() *Response { return &Response{Body: io.NopCloser(strings.NewReader("")), Size: -1} }
	wraps := func(resp *Response) []Middleware { return []Middleware{func(Driver) Driver { return answers(resp) }} }
	for _, c := range []struct {
		name   string
		scheme Scheme
		wrap   []Middleware
		want   Fault
	}{
		{"no response", opens(answers(nil)), nil, Internal},
		{"no body", opens(answers(&Response{})), nil, Internal},
		{"no driver", Scheme{Name: "http", Port: 80}, nil, Unsupported},
		{"no response from a middleware", opens(answers(whole())), wraps(nil), Internal},
		{"no body from a middleware", opens(answers(whole())), wraps(&Response{}), Internal},
		{"correct driver and middleware", opens(answers(whole())), nil, 0},
	} {
		cl := New(Options{Wrap: c.wrap}, c.scheme)
		_, err := cl.Get(t.Context(), "http://8.8.8.8/")
		if FaultOf(err) != c.want {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		if _, err := cl.Plan(&Request{URL: uri.MustParse("http://8.8.8.8/")}); !errors.Is(err, Unsupported) {
			t.Errorf("%s: a plan that the scheme does not have: got %v", c.name, err)
		}
		cl.Close()
	}
}

// TestSizeLeftOut checks that a driver which leaves Size zero returns a body of
// unknown size, unless its scheme has Traits.ReportsSize.
func TestSizeLeftOut(t *testing.T) {
	for sizes, want := range map[bool]string{false: "abc <nil> -1", true: " body longer than announced 0"} {
		s := page(func(_ *Request, resp *Response) {
			resp.Size, resp.Body = 0, io.NopCloser(strings.NewReader("abc"))
		})
		s.Traits.ReportsSize = sizes
		c := New(Options{Dial: (&recorder{}).dial}, s)
		resp, err := c.Get(t.Context(), "http://8.8.8.8/")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if e, ok := err.(*Error); ok {
			err = e.Err
		}
		if got := fmt.Sprintf("%s %v %d", body, err, resp.Size); got != want {
			t.Errorf("sizes %t: got %q, want %q", sizes, got, want)
		}
		resp.Body.Close()
		c.Close()
	}
}

// TestCallerCause checks that the cause of a canceled ctx is in the chain of
// the error, before the response and within the body, and has a class.
func TestCallerCause(t *testing.T) {
	boom := errors.New("boom")
	for _, early := range []bool{true, false} {
		ctx, cancel := context.WithCancelCause(t.Context())
		s := page(func(_ *Request, resp *Response) {
			resp.Body = io.NopCloser(iotest.ErrReader(boom))
		})
		if early {
			s.Open = func(Env) Driver {
				return DriverFunc(func(ctx context.Context, _ *Request) (*Response, error) {
					cancel(boom)
					return nil, context.Cause(ctx)
				})
			}
		}
		c := New(Options{Dial: (&recorder{}).dial}, s)
		resp, err := c.Get(ctx, "http://8.8.8.8/")
		if err == nil {
			cancel(boom)
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		if !errors.Is(err, boom) || !errors.Is(err, Canceled) || FaultOf(err) != Canceled {
			t.Errorf("early %t: got %v, class %v", early, err, FaultOf(err))
		}
		c.Close()
		cancel(nil)
	}
}

// TestEntriesTwice checks that a second call of Entries is an error.
func TestEntriesTwice(t *testing.T) {
	s := page(func(_ *Request, resp *Response) {
		text(resp, "a")
		resp.Kind = Menu
	})
	s.Menu = func(_ uri.URI, _ string, r io.Reader) iter.Seq2[Entry, error] {
		return func(yield func(Entry, error) bool) {
			if name, err := io.ReadAll(r); len(name) > 0 || err != nil {
				yield(Entry{Name: string(name)}, err)
			}
		}
	}
	c := New(Options{Dial: (&recorder{}).dial}, s)
	defer c.Close()
	resp, err := c.Get(t.Context(), "http://8.8.8.8/")
	if err != nil {
		t.Fatal(err)
	}
	all := resp.Entries()
	for e, err := range all {
		if e.Name != "a" || err != nil {
			t.Errorf("first: got %q, %v", e.Name, err)
		}
	}
	for _, again := range []iter.Seq2[Entry, error]{all, resp.Entries()} {
		told := false
		for _, err := range again {
			told = errors.Is(err, Usage)
		}
		if !told {
			t.Error("read before: no error")
		}
	}
}

// nowhere is a Resolver that returns the zero Addr.
type nowhere struct{}

func (nowhere) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{{}}, nil
}

func TestZeroAddress(t *testing.T) {
	for _, p := range []Policy{Public(), Typed(), Allowlist("192.0.2.0/24")} {
		var r recorder
		c := New(Options{Policy: p, Resolver: nowhere{}, Dial: r.dial}, page(nil))
		if _, err := c.Get(t.Context(), "http://a.example/"); err == nil || r.addresses() != "" {
			t.Errorf("reach %d: got %v, dialled %q", p.reach, err, r.addresses())
		}
		c.Close()
	}
}
