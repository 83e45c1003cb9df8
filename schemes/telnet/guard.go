package telnet

import (
	"net"
	"sync"
	"time"
)

// sendTime is how long the peer may take to hear us.
const sendTime = 30 * time.Second

// A guard is the connection that the library sees: a stream with no command in
// it but IAC IAC. It answers options itself; the library would take many of
// the commands that peers send for the end of the session, and others for
// what they are not.
type guard struct {
	net.Conn
	mode func(Mode) // see Options.Mode
	told Mode

	mu      sync.Mutex // of options, and of writing
	options options

	enter bool // the last byte of Input was CR

	raw   [4 << 10]byte
	clean []byte // read, without commands, and not yet given out
	cr    bool   // the last byte of data was CR
	err   error
}

func (g *guard) Read(p []byte) (int, error) {
	for len(g.clean) == 0 && g.err == nil {
		var n int
		n, g.err = g.Conn.Read(g.raw[:])
		g.digest(g.raw[:n])
	}
	if len(g.clean) == 0 {
		return 0, g.err
	}
	n := copy(p, g.clean)
	g.clean = g.clean[n:]
	return n, nil
}

// digest takes the commands out of what was read and answers them. A peer who
// does not hear the answers may have left, and what it said first counts.
func (g *guard) digest(text []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if cap(g.clean) < 2*len(g.raw) {
		g.clean = make([]byte, 0, 2*len(g.raw))
	}
	g.clean = g.clean[:0]
	for _, b := range text {
		if g.options.feed(b) != data {
			continue
		}
		if b == 0 && g.cr && !g.options.him[optBinary] {
			g.cr = false
			continue // CR NUL is CR
		}
		if g.cr = b == '\r'; b == iac {
			g.clean = append(g.clean, iac)
		}
		g.clean = append(g.clean, b)
	}
	g.flush(nil)
	if g.options.mode() != g.told {
		g.tell()
	}
}

// tell says how the peer wants to be typed to.
func (g *guard) tell() {
	if g.told = g.options.mode(); g.mode != nil {
		g.mode(g.told)
	}
}

// flush sends what options have to say and then text. It is called with the
// lock held.
func (g *guard) flush(text []byte) error {
	out := append(g.options.out, text...)
	g.options.out = g.options.out[:0]
	if len(out) == 0 {
		return nil
	}
	g.Conn.SetWriteDeadline(time.Now().Add(sendTime))
	_, err := g.Conn.Write(out)
	return err
}

// resize may be called at any time. What goes wrong shows in the next Read or
// Write.
func (g *guard) resize(cols, rows int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.options.resize(min(max(cols, 0), 0xffff), min(max(rows, 0), 0xffff))
	g.flush(nil)
}

// send writes data: each IAC twice, and what a person types as NVT has it. The
// library would lose what is not UTF-8.
func (g *guard) send(p []byte) (int, error) {
	const chunk = 4 << 10
	sent := 0
	for sent < len(p) {
		part := p[sent:min(len(p), sent+chunk)]
		if err := g.sendPart(part, p[sent+len(part):]); err != nil {
			return sent, err
		}
		sent += len(part)
	}
	return sent, nil
}

// sendPart sends part, behind which comes more.
func (g *guard) sendPart(part, more []byte) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make([]byte, 0, 2*len(part))
	for i, b := range part {
		switch typed := g.mode != nil && !g.options.us[optBinary]; {
		case typed && b == '\n' && g.options.mode() != Keys && !g.enter:
			out = append(out, "\r\n"...)
		case typed && b == '\r' && !feedsLine(part[i+1:], more):
			out = append(out, g.options.enter()...)
		default:
			out = appendDoubled(out, part[i:i+1])
		}
		g.enter = b == '\r'
	}
	return g.flush(out)
}

// feedsLine reports whether an LF comes next.
func feedsLine(rest, more []byte) bool {
	if len(rest) == 0 {
		rest = more
	}
	return len(rest) > 0 && rest[0] == '\n'
}
