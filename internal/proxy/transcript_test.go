package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
)

// A turn is what the proxy must hear and what it then says.
type turn struct{ want, say string }

// play connects to a proxy that follows turns and closes. wait returns how
// the transcript went wrong, once all of it has been played.
func play(t *testing.T, turns []turn) (conn net.Conn, wait func() error) {
	t.Helper()
	conn, far := net.Pipe()
	result := make(chan error, 1)
	go func() {
		defer far.Close()
		result <- follow(far, turns)
	}()
	t.Cleanup(func() { conn.Close() })
	return conn, func() error { return <-result }
}

func follow(conn net.Conn, turns []turn) error {
	for i, turn := range turns {
		got := make([]byte, len(turn.want))
		n, err := io.ReadFull(conn, got)
		if !bytes.Equal(got[:n], []byte(turn.want)) {
			return fmt.Errorf("turn %d: proxy heard\n%q, want\n%q", i, got[:n], turn.want)
		}
		if err != nil {
			return fmt.Errorf("turn %d: %w", i, err)
		}
		if turn.say == "" {
			continue // an empty write to a pipe waits for a reader
		}
		if _, err := io.WriteString(conn, turn.say); err != nil && !errors.Is(err, io.ErrClosedPipe) {
			return fmt.Errorf("turn %d: %w", i, err)
		}
	}
	return nil
}

// A handshake is a transcript with its outcome. What is left in the last say
// when Connect returns must be rest, byte for byte.
type handshake struct {
	name, scheme, target string
	opts                 Options
	turns                []turn
	err                  error // errors.Is, or equal text
	rest                 string
}

func (h handshake) run(t *testing.T) {
	conn, wait := play(t, h.turns)
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
