package http

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/http3/message"
	"github.com/anyurl/fetch/internal/wire/outgoing"
)

// A losingConn answers the first request, and closes the connection during each
// later one.
type losingConn struct {
	raceConn
	requests *int // on all connections
}

func (c losingConn) RoundTrip(_ context.Context, _ []message.Field, _ time.Duration, sent, done func()) (*message.Response, error) {
	sent()
	done()
	if *c.requests++; *c.requests > 1 {
		return nil, &message.LostError{}
	}
	return &message.Response{Status: 200, Length: -1, Body: emptyBody3{}}, nil
}

type losingTransport struct {
	raceTransport
	requests *int
}

func (l losingTransport) Handshake(context.Context, net.Conn, *tls.Config) (message.Conn, error) {
	return losingConn{requests: l.requests}, nil
}

// TestHTTP3Repeats checks that a request which a server may have processed is sent
// again only if a second one has no further effect.
func TestHTTP3Repeats(t *testing.T) {
	for _, c := range []struct {
		name string
		m    *outgoing.Message
		want int // requests that the server receives, after the one that opens the connection
	}{
		{"own request", nil, 2},
		{"GET of a browser", &outgoing.Message{Method: "GET"}, 2},
		{"DELETE of a browser", &outgoing.Message{Method: "DELETE"}, 1},
		{"POST without a body", &outgoing.Message{Method: "POST"}, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			done, requests := make(chan struct{}), 0
			h := h3{env: fetch.Env{Net: raceNet{}}, transport: losingTransport{raceTransport{addrs: []string{"a"}}, &requests}, pool: h3pool{done: done}}
			if _, _, err := h.send(t.Context(), "", &fetch.Request{}, &wireRequest{method: "GET", address: "a"}); err != nil {
				t.Fatal(err)
			}
			wr := &wireRequest{method: "GET", address: "a", outgoing: c.m}
			if _, _, err := h.send(t.Context(), "", &fetch.Request{}, wr); fetch.FaultOf(err) != fetch.Connect {
				t.Errorf("%s: got %v", c.name, err)
			}
			if requests--; requests != c.want {
				t.Errorf("%s: sent %d times, want %d", c.name, requests, c.want)
			}
			close(done)
		})
	}
}

// TestHTTP3OnlyBody checks that a request with a body is not sent over TCP if only
// HTTP/3 may be used.
func TestHTTP3OnlyBody(t *testing.T) {
	body := &outgoing.Message{Method: "POST", Open: func() (io.ReadCloser, error) { return nil, io.EOF }}
	for _, c := range []struct {
		name      string
		transport HTTP3
		want      error
	}{
		{"without HTTP/3", nil, errNoHTTP3},
		{"with HTTP/3", raceTransport{}, errNoHTTP3},
		{"only HTTP/3", raceTransport{only: true}, fetch.Unsupported},
	} {
		h := h3{transport: c.transport}
		_, _, err := h.send(t.Context(), "", &fetch.Request{}, &wireRequest{method: "POST", address: "a", outgoing: body})
		if f, ok := c.want.(fetch.Fault); err != c.want && (!ok || fetch.FaultOf(err) != f) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
}
