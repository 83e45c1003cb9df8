package http

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/http3/message"
)

// An unservedConn returns an error for each request.
type unservedConn struct {
	raceConn
	err error
}

func (c unservedConn) RoundTrip(_ context.Context, _ []message.Field, _ time.Duration, _, done func()) (*message.Response, error) {
	done()
	return nil, c.err
}

type unservedTransport struct {
	raceTransport
	err error
}

func (u unservedTransport) Handshake(context.Context, net.Conn, *tls.Config) (message.Conn, error) {
	return unservedConn{err: u.err}, nil
}

// TestHTTP3Unserved checks which requests use TCP, and which addresses are not
// tried again, if a server completes the handshake but does not respond.
func TestHTTP3Unserved(t *testing.T) {
	violation := &message.Error{Text: "invalid"}
	for _, c := range []struct {
		name string
		err  error // of each request
		only bool
		want error // of send
		dead bool
	}{
		{"rejected", message.ErrUnsent, false, errNoHTTP3, true},
		{"no streams", message.ErrFull, false, errNoHTTP3, true},
		{"connection closed", &message.LostError{}, false, fetch.Connect, true},
		{"no response", os.ErrDeadlineExceeded, false, fetch.Timeout, true},
		{"stream canceled", &message.LostError{Reset: true}, false, fetch.Connect, false},
		{"violation", violation, false, fetch.Protocol, false},
		{"rejected, only HTTP/3", message.ErrUnsent, true, fetch.Connect, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			done := make(chan struct{})
			transport := unservedTransport{raceTransport{addrs: []string{"a.test:443"}, only: c.only}, c.err}
			h := h3{env: fetch.Env{Net: raceNet{}}, transport: transport, pool: h3pool{done: done}}
			_, _, err := h.send(t.Context(), "", &fetch.Request{}, &wireRequest{method: "GET", address: "a.test:443"})
			if !errors.Is(err, c.want) || !c.only && h.dead.has("a.test:443", "a.test:443") != c.dead {
				t.Errorf("%s: got %v, dead addresses %v", c.name, err, h.dead.until)
			}
			close(done)
		})
	}
}

// TestHTTP3DeadOfOther checks that a server cannot disable HTTP/3 at the address of
// another server by naming it as an alternative service.
func TestHTTP3DeadOfOther(t *testing.T) {
	const own, other = "a.test:443", "b.test:443"
	transport := raceTransport{addrs: []string{other}, took: map[string]time.Duration{other: -1}}
	h := h3{env: fetch.Env{Net: raceNet{}}, transport: transport}
	if _, err := h.dialAny(t.Context(), nil, &wireRequest{address: own}, []string{other}, func() {}); err == nil {
		t.Fatal("no error")
	}
	for address, want := range map[string]int{own: 0, other: 1} {
		if got := h.addresses(t.Context(), &wireRequest{address: address}); len(got) != want {
			t.Errorf("%s: addresses %q, want %d", address, got, want)
		}
	}
}
