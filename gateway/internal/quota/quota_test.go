package quota

import (
	"context"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

var small = Limits{Requests: 60, Running: 2, Connections: 3, Bytes: 1000}

func addr(text string) netip.Addr { return netip.MustParseAddr(text) }

// TestClients checks which addresses are the same client.
func TestClients(t *testing.T) {
	for name, c := range map[string]struct {
		a, b string
		same bool
	}{
		"same IPv4 address":          {"192.0.2.1", "192.0.2.1", true},
		"IPv4 neighbors":             {"192.0.2.1", "192.0.2.2", false},
		"mapped IPv4 address":        {"192.0.2.1", "::ffff:192.0.2.1", true},
		"same prefix of IPv6":        {"2001:db8::1", "2001:db8::ffff:0:0:1", true},
		"next prefix of IPv6":        {"2001:db8::1", "2001:db8:0:1::1", false},
		"link-local with zones":      {"fe80::1%eth0", "fe80::2%eth1", true},
		"other mapped IPv4 address":  {"192.0.2.1", "::ffff:192.0.2.2", false},
		"unspecified IPv4 and IPv6":  {"0.0.0.0", "::", false},
		"loopback of IPv4 and IPv6":  {"127.0.0.1", "::1", false},
		"two addresses of loopback":  {"127.0.0.1", "127.0.0.2", false},
		"IPv4-compatible and native": {"::192.0.2.1", "192.0.2.1", false},
	} {
		if same := prefixOf(addr(c.a)) == prefixOf(addr(c.b)); same != c.same {
			t.Errorf("%s: %s and %s: same client = %v", name, c.a, c.b, same)
		}
	}
}

// TestConnect checks the limit of connections, and that a release counts once.
func TestConnect(t *testing.T) {
	table := New(small)
	var releases []func()
	for range small.Connections {
		release, ok := table.Connect(addr("192.0.2.1"))
		if !ok {
			t.Fatal("a permitted connection was refused")
		}
		releases = append(releases, release)
	}
	if _, ok := table.Connect(addr("192.0.2.1")); ok {
		t.Error("the limit has no effect")
	}
	if _, ok := table.Connect(addr("192.0.2.2")); !ok {
		t.Error("another client was refused")
	}
	releases[0]()
	releases[0]()
	if _, ok := table.Connect(addr("192.0.2.1")); !ok {
		t.Error("a released connection still counts")
	}
	if _, ok := table.Connect(addr("192.0.2.1")); ok {
		t.Error("a connection was released twice")
	}
}

// TestRunning checks the limit of running requests.
func TestRunning(t *testing.T) {
	table := New(small)
	first, _ := table.Begin(addr("2001:db8::1"))
	second, _ := table.Begin(addr("2001:db8::2"))
	if _, ok := table.Begin(addr("2001:db8::3")); ok || first == nil || second == nil {
		t.Errorf("uses %v, %v, and a third one: %v", first, second, ok)
	}
	first.End()
	if _, ok := table.Begin(addr("2001:db8::3")); !ok {
		t.Error("an ended request still counts")
	}
}

// TestRequests checks the limit of requests per minute, and that it recovers.
func TestRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := New(small)
		count := func() (n int) {
			for {
				use, ok := table.Begin(addr("192.0.2.1"))
				if !ok {
					return n
				}
				use.End()
				n++
			}
		}
		if got := count(); got != 60 {
			t.Errorf("%d requests at once, want 60", got)
		}
		if got := count(); got != 0 {
			t.Errorf("%d further requests", got)
		}
		time.Sleep(10 * time.Second)
		if got := count(); got != 10 {
			t.Errorf("%d requests after ten seconds, want 10", got)
		}
		time.Sleep(time.Hour)
		if got := count(); got != 60 {
			t.Errorf("%d requests after an hour, want 60", got)
		}
	})
}

// TestBytes checks that the requests of a client share a rate, and that a large
// number of bytes does not exceed the burst.
func TestBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := New(small)
		a, _ := table.Begin(addr("192.0.2.1"))
		b, _ := table.Begin(addr("192.0.2.1"))
		other, _ := table.Begin(addr("192.0.2.2"))
		begin := time.Now()
		for _, c := range []struct {
			use  *Use
			n    int
			want time.Duration // time since begin
		}{
			{a, 40_000, 0}, {b, 20_000, 0}, {a, 1000, time.Second}, {b, 2000, 3 * time.Second}, {other, 60_000, 3 * time.Second},
			{a, 200_000, 203 * time.Second}, {b, 0, 203 * time.Second},
		} {
			if err := c.use.Wait(t.Context(), c.n); err != nil {
				t.Fatal(err)
			}
			if got := time.Since(begin).Round(time.Second); got != c.want {
				t.Errorf("%d bytes were permitted after %v, want %v", c.n, got, c.want)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := a.Wait(ctx, 60_000); err == nil {
			t.Error("the deadline has no effect")
		}
	})
}

// TestMaxClients checks that the table forgets the clients that were idle for
// the longest time, and no busy client.
func TestMaxClients(t *testing.T) {
	table := New(small)
	busy, _ := table.Begin(addr("192.0.2.1"))
	first := addr("10.0.0.0")
	a := first
	for range maxClients + 10 {
		use, ok := table.Begin(a)
		if !ok {
			t.Fatalf("%s was refused", a)
		}
		use.End()
		a = a.Next()
	}
	if n := len(table.clients); n != maxClients+1 {
		t.Errorf("%d clients", n)
	}
	if table.clients[prefixOf(first)] != nil || table.clients[busy.client.prefix] != busy.client {
		t.Error("the wrong client was forgotten")
	}
	busy.End()
	if n := len(table.clients); n != maxClients {
		t.Errorf("%d clients after the end of the request", n)
	}
}
