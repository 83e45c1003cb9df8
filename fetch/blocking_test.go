package fetch

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	tuning "github.com/anyurl/fetch/internal/wire/socket"
)

// TestReaders checks when a read may block its thread.
func TestReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r readers
		if !r.add() {
			t.Error("the first read may not block")
		}
		if r.add() {
			t.Error("a second read may block at the same time")
		}
		r.remove()
		r.remove()
		time.Sleep(soleTime)
		if r.add() {
			t.Error("a read may block shortly after concurrent reads")
		}
		r.remove()
		time.Sleep(time.Nanosecond)
		if !r.add() {
			t.Error("a read may not block long after concurrent reads")
		}
	})
}

// TestBlockingReads checks reads of a connection for which SetBlockingReads
// was called.
func TestBlockingReads(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	policy := Typed()
	d := newDialer(&policy, Options{})
	target := Target{Scheme: "test", Host: "127.0.0.1", Port: uint16(l.Addr().(*net.TCPAddr).Port)}
	ctx := context.WithValue(t.Context(), grantKey{}, &grant{scheme: &Scheme{Name: "test", Port: target.Port}, target: target, typed: true})
	c, err := d.DialContext(ctx, "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	tuning.SetBlockingReads(c)
	own := connOf(c)
	waits := 0
	wait := own.socket.waits
	own.socket.waits = func(fd uintptr) { waits++; wait(fd) }

	p := make([]byte, 4)
	for _, step := range []struct {
		name  string
		send  string
		want  string
		waits int // number of waits up to the end of the step
	}{
		{"shorter than the buffer", "abc", "abc", 1},
		{"fills the buffer", "abcdef", "abcd", 2},
		{"after a full buffer, without a wait", "", "ef", 2},
		{"shorter than the buffer again", "g", "g", 3},
	} {
		if _, err := io.WriteString(server, step.send); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Read(p); string(p[:n]) != step.want || err != nil || waits != step.waits {
			t.Errorf("%s: got %q, %v and %d waits, want %q and %d", step.name, p[:n], err, waits, step.want, step.waits)
		}
	}

	c.SetReadDeadline(time.Now().Add(time.Millisecond))
	if n, err := c.Read(p); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after the deadline: got %d bytes and %v", n, err)
	}
	c.SetReadDeadline(time.Time{})
	ended := make(chan error)
	go func() {
		_, err := c.Read(p)
		ended <- err
	}()
	c.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close: got %v", err)
	}
	server.Close()
}
