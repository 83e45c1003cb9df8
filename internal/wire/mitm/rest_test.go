package mitm_test

import (
	"bufio"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/internal/wire/mitm"
)

// A pipeListener is a net.Listener with one connection.
type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { close(l.done); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

// TestMissingBody sends requests that are answered without their body, and never
// sends the body. The connection must not remain open.
func TestMissingBody(t *testing.T) {
	ca, err := mitm.NewCA(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	own := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "own page") })
	for _, c := range []struct {
		name, request string
		code          int
	}{
		{"refused", "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 9\r\n\r\n", 501},
		{"page of the proxy", "POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n", 200},
	} {
		synctest.Test(t, func(t *testing.T) {
			client, server := net.Pipe()
			l := &pipeListener{make(chan net.Conn, 1), make(chan struct{})}
			l.conns <- server
			ctx, cancel := context.WithCancel(t.Context())
			s := &mitm.Server{CA: ca, Own: own, ErrorLog: log.New(io.Discard, "", 0)}
			done := make(chan error, 1)
			go func() { done <- s.Serve(ctx, l, time.Second) }()
			client.SetDeadline(time.Now().Add(time.Hour))
			start := time.Now()
			io.WriteString(client, c.request)
			r := bufio.NewReader(client)
			if code, _ := status(t, r); code != c.code {
				t.Errorf("%s: status %d", c.name, code)
			}
			if _, err := r.ReadByte(); err != io.EOF || time.Since(start) > 5*time.Minute {
				t.Errorf("%s: %v after %v", c.name, err, time.Since(start))
			}
			client.Close()
			cancel()
			<-done
		})
	}
}
