//go:build unix && !aix

package telnet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anyurl/fetch/fetch"
)

// TestUrgent checks that urgent data is passed to the handler and removed from
// the stream.
func TestUrgent(t *testing.T) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	var urgent []byte
	plain, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn := withUrgent(plain.(*net.TCPConn), func(b byte) { urgent = append(urgent, b) })
	defer conn.Close()
	peer, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	raw, err := peer.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	send := func(text string, flags int) {
		raw.Write(func(fd uintptr) bool { err = unix.Sendto(int(fd), []byte(text), flags, nil); return true })
		if err != nil {
			t.Fatal(err)
		}
	}
	buf := make([]byte, 100)
	expect := func(want string) {
		t.Helper()
		conn.SetReadDeadline(time.Now().Add(5 * time.Minute))
		if _, err := io.ReadFull(conn, buf[:len(want)]); err != nil || string(buf[:len(want)]) != want {
			t.Fatalf("got %q, %v, want %q", buf[:len(want)], err, want)
		}
	}
	send("\x80", unix.MSG_OOB)
	send("ab", 0)
	expect("ab")
	send("cd", 0)
	send("\x10", unix.MSG_OOB)
	send("\xff\x80", 0)
	expect("cd\xff\x80")
	if !bytes.Equal(urgent, []byte{0x80, 0x10}) {
		t.Errorf("got urgent data %x", urgent)
	}
	conn.SetReadDeadline(time.Now().Add(-time.Second))
	if _, err := conn.Read(buf); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("expired deadline: got %v", err)
	}
	conn.SetReadDeadline(time.Time{})
	peer.(*net.TCPConn).SetLinger(0)
	peer.Close()
	if _, err := conn.Read(buf); fetch.FaultOf(err) != fetch.Connect {
		t.Errorf("reset: got %v", err)
	}
}

// TestRloginWindow checks that the window size is sent after the first request
// and after each change.
func TestRloginWindow(t *testing.T) {
	size := func(cols, rows uint16) string {
		b := []byte("\xff\xffss")
		for _, n := range []uint16{rows, cols, 0, 0} {
			b = binary.BigEndian.AppendUint16(b, n)
		}
		return string(b)
	}
	c := new(wire)
	w := new(window)
	for _, step := range []struct {
		name string
		do   func()
		want string
	}{
		{"no request", func() { w.setConn(c); w.resize(80, 24) }, ""},
		{"other urgent data", func() { w.handleUrgent(0x10) }, ""},
		{"first request", func() { w.handleUrgent(sizeRequest) }, size(80, 24)},
		{"new size", func() { w.resize(100, 30) }, size(100, 30)},
		{"second request", func() { w.handleUrgent(sizeRequest) }, size(100, 30)},
		{"size 0", func() { w.resize(0, 0) }, ""},
	} {
		c.out = nil
		if step.do(); string(c.out) != step.want {
			t.Errorf("%s: got %q, want %q", step.name, c.out, step.want)
		}
	}
	early := new(window)
	early.handleUrgent(sizeRequest)
	early.resize(80, 24)
	c.out = nil
	if early.setConn(c); string(c.out) != size(80, 24) {
		t.Errorf("request before the login: got %q", c.out)
	}
}
