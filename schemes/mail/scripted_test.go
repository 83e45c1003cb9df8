package mail

import (
	"context"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// scripted is a connection whose server has said all that it will say.
type scripted struct {
	net.Conn
	mu   sync.Mutex
	in   []byte
	out  []byte
	once sync.Once
	gone chan struct{}
}

func (c *scripted) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.gone:
		return 0, net.ErrClosed
	default:
	}
	if len(c.in) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.in)
	c.in = c.in[n:]
	return n, nil
}

func (c *scripted) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.gone:
		return 0, net.ErrClosed
	default:
	}
	c.out = append(c.out, p...)
	return len(p), nil
}

func (c *scripted) sent() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out
}

func (c *scripted) Close() error {
	c.once.Do(func() { close(c.gone) })
	return nil
}

func (*scripted) SetDeadline(time.Time) error      { return nil }
func (*scripted) SetReadDeadline(time.Time) error  { return nil }
func (*scripted) SetWriteDeadline(time.Time) error { return nil }

// scriptedNet leads everybody to one connection.
type scriptedNet struct{ conn net.Conn }

func (n scriptedNet) DialContext(context.Context, string, string) (net.Conn, error) {
	return n.conn, nil
}
func (scriptedNet) Key(context.Context) string { return "" }
func (scriptedNet) DialPeer(context.Context, net.Conn, uint16) (net.Conn, error) {
	return nil, io.ErrClosedPipe
}
func (scriptedNet) ListenPeer(context.Context, net.Conn) (net.Listener, error) {
	return nil, io.ErrClosedPipe
}
func (scriptedNet) Proxy(context.Context) (fetch.ProxyTarget, bool, error) {
	return fetch.ProxyTarget{}, false, nil
}
func (scriptedNet) DialProxy(context.Context) (net.Conn, error)   { return nil, io.ErrClosedPipe }
func (scriptedNet) Gateway(context.Context) (fetch.Target, error) { return fetch.Target{}, nil }

// willing is a connection whose server says OK to every command, of which it
// keeps the lines. A literal is part of its line.
type willing struct {
	scripted
	more  *sync.Cond
	lines []string
	part  []byte // of a line
	skip  int    // of a literal
}

func newWilling() *willing {
	w := &willing{scripted: scripted{in: []byte("* PREAUTH [CAPABILITY IMAP4rev1 LITERAL+] hi\r\n"), gone: make(chan struct{})}}
	w.more = sync.NewCond(&w.mu)
	return w
}

func (w *willing) Read(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.in) == 0 {
		select {
		case <-w.gone:
			return 0, net.ErrClosed
		default:
		}
		w.more.Wait()
	}
	n := copy(p, w.in)
	w.in = w.in[n:]
	return n, nil
}

func (w *willing) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range p {
		w.part = append(w.part, c)
		if w.skip > 0 {
			w.skip--
		} else if c == '\n' {
			w.endLine()
		}
	}
	w.more.Broadcast()
	return len(p), nil
}

var literalMark = regexp.MustCompile(`\{(\d+)\+\}\r\n$`)

func (w *willing) endLine() {
	if m := literalMark.FindSubmatch(w.part); m != nil {
		w.skip, _ = strconv.Atoi(string(m[1]))
		return
	}
	w.lines = append(w.lines, string(w.part))
	tag, _, _ := strings.Cut(string(w.part), " ")
	w.in = append(w.in, tag+" OK done\r\n"...)
	w.part = nil
}

func (w *willing) Close() error {
	w.scripted.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.more.Broadcast()
	return nil
}
