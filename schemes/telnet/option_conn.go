package telnet

import (
	"net"
	"sync"
	"time"

	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// sendTimeout is the time limit of each write to the server.
const sendTimeout = 30 * time.Second

// An optionConn wraps a connection to a telnet server and negotiates the Telnet
// options. It answers all commands and removes them from the received stream,
// except the escape sequence IAC IAC. The telnet library reads from the
// optionConn, because the library would treat many valid commands as the end of
// the session.
type optionConn struct {
	net.Conn
	mode     func(Mode) // see Options.Mode
	lastMode Mode       // last value passed to mode

	mu      sync.Mutex // guards options and writes
	options options

	sentCR bool // the last byte of Input was CR

	raw   [4 << 10]byte
	data  []byte // data received but not yet returned by Read
	gotCR bool   // the last data byte received was CR
	err   error
}

func (g *optionConn) Read(p []byte) (int, error) {
	return sessions.ReadPending(p, &g.data, &g.err, func() {
		var n int
		n, g.err = g.Conn.Read(g.raw[:])
		g.process(g.raw[:n])
	})
}

// process answers the Telnet commands in the received text and appends the data
// to g.data. It ignores write errors, because data received before the server
// closed the connection must still be returned.
func (g *optionConn) process(text []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if cap(g.data) < 2*len(g.raw) {
		g.data = make([]byte, 0, 2*len(g.raw))
	}
	g.data = g.data[:0]
	for _, b := range text {
		if g.options.parseByte(b) != dataByte {
			continue
		}
		if b == 0 && g.gotCR && !g.options.him[optBinary] {
			g.gotCR = false
			continue // CR NUL represents CR
		}
		if g.gotCR = b == '\r'; b == iac {
			g.data = append(g.data, iac)
		}
		g.data = append(g.data, b)
	}
	g.flush(nil)
	if g.options.mode() != g.lastMode {
		g.reportMode()
	}
}

// reportMode calls g.mode with the current input mode.
func (g *optionConn) reportMode() {
	if g.lastMode = g.options.mode(); g.mode != nil {
		g.mode(g.lastMode)
	}
}

// flush sends the pending responses to option requests, followed by text. The
// caller must hold g.mu.
func (g *optionConn) flush(text []byte) error {
	out := append(g.options.out, text...)
	g.options.out = g.options.out[:0]
	if len(out) == 0 {
		return nil
	}
	g.Conn.SetWriteDeadline(time.Now().Add(sendTimeout))
	_, err := g.Conn.Write(out)
	return err
}

// resize sends a new window size to the server. It may be called at any time.
// The next Read or Write reports its errors.
func (g *optionConn) resize(cols, rows int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.options.resize(min(max(cols, 0), 0xffff), min(max(rows, 0), 0xffff))
	g.flush(nil)
}

// send sends data that was written to Input. It doubles IAC bytes and, for
// keyboard input, sends the line ends of RFC 854. The Write method of the
// telnet library is not used, because it drops bytes that are not UTF-8.
func (g *optionConn) send(p []byte) (int, error) {
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

// sendPart sends one part of the data written to Input. The data after this
// part is in more.
func (g *optionConn) sendPart(part, more []byte) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make([]byte, 0, 2*len(part))
	for i, b := range part {
		switch typed := g.mode != nil && !g.options.us[optBinary]; {
		case typed && b == '\n' && g.options.mode() != Keys && !g.sentCR:
			out = append(out, "\r\n"...)
		case typed && b == '\r' && !startsWithLF(part[i+1:], more):
			out = append(out, g.options.enterKey()...)
		default:
			out = appendDoubled(out, part[i:i+1])
		}
		g.sentCR = b == '\r'
	}
	return g.flush(out)
}

// startsWithLF reports whether the next byte of Input is LF.
func startsWithLF(rest, more []byte) bool {
	if len(rest) == 0 {
		rest = more
	}
	return len(rest) > 0 && rest[0] == '\n'
}
