package faultnet

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/nettest"
)

var (
	here  = netip.MustParseAddrPort("192.0.2.254:40000")
	there = netip.MustParseAddrPort("192.0.2.1:70")
)

// TestPipeConn runs the conformance tests of net.Conn.
func TestPipeConn(t *testing.T) {
	nettest.TestConn(t, func() (net.Conn, net.Conn, func(), error) {
		near, far := Pipe(here, there)
		return near, far, func() { near.Close(); far.Close() }, nil
	})
}

func TestPipeEnds(t *testing.T) {
	for _, c := range []struct {
		name        string
		end         func(far *PipeConn)
		read, write error
	}{
		{"close", func(far *PipeConn) { far.Close() }, io.EOF, syscall.EPIPE},
		{"reset", func(far *PipeConn) { far.Reset() }, syscall.ECONNRESET, syscall.EPIPE},
		{"half close", func(far *PipeConn) { far.CloseWrite() }, io.EOF, nil},
		{"half close, then reset", func(far *PipeConn) { far.CloseWrite(); far.Reset() }, syscall.ECONNRESET, syscall.EPIPE},
	} {
		near, far := Pipe(here, there)
		io.WriteString(far, "last words")
		c.end(far)
		got, err := io.ReadAll(near)
		if c.read == io.EOF && err != nil || c.read != io.EOF && !errors.Is(err, c.read) || string(got) != "last words" {
			t.Errorf("%s: read %q, %v, want %v", c.name, got, err, c.read)
		}
		if _, err := near.Write([]byte("x")); !errors.Is(err, c.write) {
			t.Errorf("%s: write %v, want %v", c.name, err, c.write)
		}
		near.Close()
		for op, err := range map[string]error{"read": second(near.Read(make([]byte, 1))), "write": second(near.Write([]byte("x"))), "close": near.Close()} {
			if !errors.Is(err, net.ErrClosed) {
				t.Errorf("%s: %s after our own close: %v", c.name, op, err)
			}
		}
	}
}

func second(_ int, err error) error { return err }

func TestPipeHoldsSoMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := Pipe(here, there)
		near.SetWriteDeadline(time.Now().Add(time.Second))
		n, err := near.Write(make([]byte, 2*pipeBytes))
		if n != pipeBytes || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("wrote %d, %v, want %d", n, err, pipeBytes)
		}
		near.Close()
		if all, err := io.ReadAll(far); len(all) != pipeBytes || err != nil {
			t.Errorf("read %d, %v", len(all), err)
		}
	})
}

func TestPacketPipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := PacketPipe(here, there)
		for _, s := range []string{"one", "", "three"} {
			io.WriteString(near, s)
		}
		p := make([]byte, 4)
		for _, want := range []string{"one", "", "thre"} {
			if n, err := far.Read(p); string(p[:n]) != want || err != nil {
				t.Errorf("read %q, %v, want %q", p[:n], err, want)
			}
		}
		far.SetReadDeadline(time.Now().Add(time.Second))
		if n, err := far.Read(p); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the rest of a datagram is read: %q, %v", p[:n], err)
		}
		for range 2 * pipeMessages {
			io.WriteString(near, "x") // does not block
		}
		var all strings.Builder
		for far.SetReadDeadline(time.Now().Add(time.Second)); ; {
			n, err := far.Read(p)
			if err != nil {
				break
			}
			all.Write(p[:n])
		}
		if all.Len() != pipeMessages {
			t.Errorf("%d datagrams held, want %d", all.Len(), pipeMessages)
		}
	})
}
