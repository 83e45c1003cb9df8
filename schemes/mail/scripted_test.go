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

// A scripted connection returns fixed server output. Reads return io.EOF after
// the output.
type scripted struct {
	net.Conn
	mu     sync.Mutex
	in     []byte
	out    []byte
	once   sync.Once
	closed chan struct{}
}

func (c *scripted) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.closed:
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
	case <-c.closed:
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
	c.once.Do(func() { close(c.closed) })
	return nil
}

func (*scripted) SetDeadline(time.Time) error      { return nil }
func (*scripted) SetReadDeadline(time.Time) error  { return nil }
func (*scripted) SetWriteDeadline(time.Time) error { return nil }

// A scriptedNet returns the same connection for each address.
type scriptedNet struct{ conn net.Conn }

func (n scriptedNet) DialContext(context.Context, string, string) (net.Conn, error) {
	return n.conn, nil
}
func (scriptedNet) Key(context.Context) string { return "" }
func (scriptedNet) DialPeer(context.Context, net.Conn, uint16) (net.Conn, error) {
	return nil, io.ErrClosedPipe
}
func (scriptedNet) Permits(context.Context, net.Conn) bool { return false }

func (scriptedNet) ListenPeer(context.Context, net.Conn) (net.Listener, error) {
	return nil, io.ErrClosedPipe
}
func (scriptedNet) Proxy(context.Context) (fetch.Proxy, fetch.Target, error) {
	return fetch.Proxy{}, fetch.Target{}, nil
}
func (scriptedNet) DialProxy(context.Context) (net.Conn, error)   { return nil, io.ErrClosedPipe }
func (scriptedNet) Gateway(context.Context) (fetch.Target, error) { return fetch.Target{}, nil }

// An okServer is a connection to a server that answers every command with OK.
// It records the command lines, including their literals.
type okServer struct {
	scripted
	changed     *sync.Cond
	lines       []string
	partialLine []byte // incomplete line
	literal     int    // remaining bytes of a literal
}

func newOKServer() *okServer {
	w := &okServer{scripted: scripted{in: []byte("* PREAUTH [CAPABILITY IMAP4rev1 LITERAL+] hi\r\n"), closed: make(chan struct{})}}
	w.changed = sync.NewCond(&w.mu)
	return w
}

func (w *okServer) Read(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.in) == 0 {
		select {
		case <-w.closed:
			return 0, net.ErrClosed
		default:
		}
		w.changed.Wait()
	}
	n := copy(p, w.in)
	w.in = w.in[n:]
	return n, nil
}

func (w *okServer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range p {
		w.partialLine = append(w.partialLine, c)
		if w.literal > 0 {
			w.literal--
		} else if c == '\n' {
			w.endLine()
		}
	}
	w.changed.Broadcast()
	return len(p), nil
}

var literalMark = regexp.MustCompile(`\{(\d+)\+\}\r\n$`)

func (w *okServer) endLine() {
	if m := literalMark.FindSubmatch(w.partialLine); m != nil {
		w.literal, _ = strconv.Atoi(string(m[1]))
		return
	}
	w.lines = append(w.lines, string(w.partialLine))
	tag, _, _ := strings.Cut(string(w.partialLine), " ")
	w.in = append(w.in, tag+" OK done\r\n"...)
	w.partialLine = nil
}

func (w *okServer) Close() error {
	w.scripted.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changed.Broadcast()
	return nil
}
