package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
)

// A turn has the bytes that the proxy expects and the bytes that it then sends.
type turn struct{ want, send string }

// startProxy starts a proxy that runs turns and then closes the connection.
// wait waits for its end and returns an error if the client sent other bytes.
func startProxy(t *testing.T, turns []turn) (conn net.Conn, wait func() error) {
	t.Helper()
	conn, proxyConn := net.Pipe()
	result := make(chan error, 1)
	go func() {
		defer proxyConn.Close()
		result <- runTurns(proxyConn, turns)
	}()
	t.Cleanup(func() { conn.Close() })
	return conn, func() error { return <-result }
}

func runTurns(conn net.Conn, turns []turn) error {
	for i, turn := range turns {
		got := make([]byte, len(turn.want))
		n, err := io.ReadFull(conn, got)
		if !bytes.Equal(got[:n], []byte(turn.want)) {
			return fmt.Errorf("turn %d: proxy received\n%q, want\n%q", i, got[:n], turn.want)
		}
		if err != nil {
			return fmt.Errorf("turn %d: %w", i, err)
		}
		if turn.send == "" {
			continue // an empty write to a pipe waits for a reader
		}
		if _, err := io.WriteString(conn, turn.send); err != nil && !errors.Is(err, io.ErrClosedPipe) {
			return fmt.Errorf("turn %d: %w", i, err)
		}
	}
	return nil
}

// A handshake is a test case: the turns of the proxy and the expected result.
// rest has the bytes of the last turn that Connect must not read.
type handshake struct {
	name, scheme, target string
	opts                 Options
	turns                []turn
	err                  error // compared with errors.Is or by text
	rest                 string
}

func (h handshake) run(t *testing.T) {
	conn, wait := startProxy(t, h.turns)
	err := Connect(t.Context(), conn, h.scheme, h.target, h.opts)
	if h.err == nil && err != nil || h.err != nil && (err == nil || !errors.Is(err, h.err) && err.Error() != h.err.Error()) {
		t.Errorf("error %v, want %v", err, h.err)
	}
	if err == nil {
		rest, err := io.ReadAll(conn)
		if err != nil || string(rest) != h.rest {
			t.Errorf("after the handshake: %q, %v, want %q", rest, err, h.rest)
		}
	}
	conn.Close()
	if err := wait(); err != nil {
		t.Error(err)
	}
}

func runAll(t *testing.T, list []handshake) {
	for _, h := range list {
		t.Run(h.name, h.run)
	}
}
