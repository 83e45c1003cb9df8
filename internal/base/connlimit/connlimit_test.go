package connlimit

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// A fakeConn is a connection from an address. It records whether it is closed.
type fakeConn struct {
	net.Conn
	from   string
	closed bool
}

func (c *fakeConn) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(c.from), 1))
}

func (c *fakeConn) Close() error {
	c.closed = true
	return nil
}

// TestTable admits connections of several clients.
func TestTable(t *testing.T) {
	for _, replace := range []bool{false, true} {
		table := &Table{PerClient: 2, Total: 4, Replace: replace}
		var conns []*fakeConn
		var releases []func()
		admit := func(from string, want bool) {
			t.Helper()
			c := &fakeConn{from: from}
			release, ok := table.Admit(c)
			if ok != (want || replace) {
				t.Errorf("replace %v: %s: %v", replace, from, ok)
			}
			if ok {
				conns, releases = append(conns, c), append(releases, release)
			}
		}
		admit("192.0.2.1", true)
		admit("::ffff:192.0.2.1", true)
		admit("192.0.2.1", false) // replaces the first
		admit("2001:db8::1", true)
		admit("2001:db8::2", true)
		admit("2001:db8::3", false) // the same prefix; replaces 2001:db8::1
		admit("192.0.2.2", false)   // replaces the second of 192.0.2.1
		if replace {
			var closed []int
			for i, c := range conns {
				if c.closed {
					closed = append(closed, i)
				}
			}
			if len(closed) != 3 || closed[0] != 0 || closed[1] != 1 || closed[2] != 3 {
				t.Errorf("closed %v", closed)
			}
		}
		for _, release := range releases {
			release()
			release()
		}
		if table.conns.Len() != 0 || len(table.count) != 0 {
			t.Errorf("replace %v: %d connections of %v remain", replace, table.conns.Len(), table.count)
		}
	}
}

// TestStall writes to clients that read nothing, or slowly.
func TestStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		c := &conn{Conn: server, release: func() {}, stall: time.Minute}
		c.SetWriteDeadline(time.Now().Add(time.Hour))
		go func() {
			for range 3 {
				time.Sleep(50 * time.Second)
				client.Read(make([]byte, 1))
			}
		}()
		start := time.Now()
		for i := range 4 {
			_, err := c.Write([]byte("x"))
			if stalled := errors.Is(err, os.ErrDeadlineExceeded); stalled != (i == 3) {
				t.Errorf("write %d after %v: %v", i, time.Since(start), err)
			}
		}
		if got := time.Since(start); got != 210*time.Second {
			t.Errorf("stalled after %v", got)
		}
		c.SetDeadline(time.Now().Add(time.Second))
		if _, err := c.Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("deadline of the server: %v", err)
		}
		client.Close()
		c.Close()
	})
}

// TestListener checks that a connection above the limit is closed, and that a
// closed connection makes room for another one.
func TestListener(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Close()
	l := &Listener{Listener: inner, Admit: (&Table{PerClient: 1, Total: 1}).Admit, Stall: time.Minute}
	dial := func() net.Conn {
		c, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	first := dial()
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	second := dial()
	next := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			err = c.Close()
		}
		next <- err
	}()
	if _, err := second.Read(make([]byte, 1)); err != io.EOF && err == nil {
		t.Errorf("second connection: %v", err)
	}
	accepted.Close()
	first.Close()
	dial()
	if err := <-next; err != nil {
		t.Error(err)
	}
}
