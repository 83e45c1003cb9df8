package fetch

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

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

// TestControl checks that the system dialer applies the Policy to the numeric
// address again, so that a changed address is not reached.
func TestControl(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d := newDialer(&Policy{}, Options{})
	to := l.Addr().(*net.TCPAddr).AddrPort()
	refuse := rejectAddress("no", "")
	if _, err := d.dialOne(t.Context(), "tcp", to, func(netip.Addr) error { return refuse }); !errors.Is(err, BadAddress) {
		t.Errorf("got %v, want the judge's refusal", err)
	}
	conn, err := d.dialOne(t.Context(), "tcp", to, func(netip.Addr) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
}

func TestDialWithoutGrant(t *testing.T) {
	r := &recorder{}
	d := newDialer(&Policy{reach: anywhere}, Options{Dial: r.dial})
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

// TestServerSuppliedDial checks that an address other than the host of the URL
// counts as supplied by the server, unless the configuration trusts it.
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
		d := newDialer(&Policy{reach: anywhere}, Options{Dial: hole})
		start := time.Now()
		allow := func(netip.Addr) error { return nil }
		got, err := d.race(t.Context(), "tcp", []netip.Addr{netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("192.0.2.1")}, 80, allow)
		if err != nil || got.addr.String() != "192.0.2.1:80" || time.Since(start) != raceDelay {
			t.Errorf("got %v, %v after %v", got.addr, err, time.Since(start))
		}
		for delay, want := range map[time.Duration]time.Duration{50 * time.Millisecond: 50 * time.Millisecond, -1: 10 * time.Second} {
			d := newDialer(&Policy{reach: anywhere}, Options{Dial: hole, AttemptDelay: delay})
			start := time.Now()
			_, err := d.race(t.Context(), "tcp", []netip.Addr{netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("192.0.2.1")}, 80, allow)
			if err != nil || time.Since(start) != want {
				t.Errorf("delay %v: got %v after %v", delay, err, time.Since(start))
			}
		}
		start = time.Now()
		_, err = d.race(t.Context(), "tcp", []netip.Addr{netip.MustParseAddr("2001:db8::1")}, 80, allow)
		if FaultOf(err) != Timeout || time.Since(start) != 10*time.Second {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
	})
}
