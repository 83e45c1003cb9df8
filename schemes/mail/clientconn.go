package mail

import (
	"bytes"
	"io"
	"net"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/rfc822"
	"github.com/emersion/go-imap/v2/imapclient"
)

// A clientConn wraps the connection that package imapclient reads and writes. It
// limits the size of server answers, because imapclient would read them into
// memory. It ignores the deadlines that imapclient sets, because they would
// interrupt long messages.
//
// imapclient reports connection errors only as text, so the clientConn records the
// first error. The clientConn can also replace a command that imapclient writes by
// another command.
type clientConn struct {
	net.Conn
	s       *session
	pending []byte // bytes that Read returns before it reads from the server
	command string // if not empty, replaces the text after the tag of the next command

	mu             sync.Mutex
	continuations  []string // remaining parts of the command, each sent after a continuation request
	inContinuation bool     // if true, the read position is in a line that starts with "+"
	midLine        bool     // if true, the last byte from the server was not a line feed
	list           listRepairer
	remaining      int64 // bytes of the server's answer that may still be read
	limit          int64 // initial value of remaining
	literal        int64 // unread bytes of the current literal
	openParens     int   // consecutive opening parentheses
	err            error // first error of reading or writing
}

const (
	maxAnswer       = 256 << 10 // maximum bytes in the answer to one command, without message content
	entryAllowance  = 64 << 10
	maxSearchAnswer = 1 << 20 // maximum bytes in the answer to a search

	// maxOpenParens limits the nesting of parentheses, which imapclient parses
	// recursively without a limit. Its error grows with each level, so that the
	// memory allocated is the square of the nesting. The limit must exceed
	// maxRead, because parentheses in a literal may be counted too.
	maxOpenParens = maxRead + 512
	maxRead       = 256 // maximum bytes of a read outside of a literal
)

// startClient creates the IMAP client that uses the connection after the login.
// It passes no capabilities to the client, because the session itself writes
// all commands that depend on capabilities.
func (s *session) startClient() {
	version := "IMAP4rev1"
	if !s.caps["IMAP4REV1"] && s.caps["IMAP4REV2"] {
		version = "IMAP4rev2"
	}
	s.clientConn = &clientConn{Conn: s.Stream, s: s, remaining: maxAnswer,
		pending: []byte("* PREAUTH [CAPABILITY " + version + "] logged in\r\n")}
	s.client = imapclient.New(s.clientConn, &imapclient.Options{
		WordDecoder: rfc822.WordDecoder(),
		// The handler reads unsolicited FETCH responses. Without a handler,
		// imapclient discards them with code that is unsafe if the connection
		// ends.
		UnilateralDataHandler: &imapclient.UnilateralDataHandler{
			Fetch: func(m *imapclient.FetchMessageData) { discardItems(m) },
		},
	})
	s.client.WaitGreeting()
}

// startCommand prepares for the next command. If command is not empty, it is
// sent in place of the command that imapclient writes. The size limit and the
// timeout for the server's answer start again.
func (g *clientConn) startCommand(command string) { g.startSized(command, maxAnswer) }

// startList prepares for a LIST command and enables the repair of malformed
// LIST responses.
func (g *clientConn) startList() {
	g.startCommand("")
	g.mu.Lock()
	g.list.active = true
	g.mu.Unlock()
}

// startSized works like startCommand, but limits the server's answer to size
// bytes. The offsets in waits divide the command into parts. After each part,
// the client waits for a continuation request of the server.
func (g *clientConn) startSized(command string, size int64, waits ...int) {
	g.mu.Lock()
	g.remaining, g.limit, g.command, g.continuations = size, size, command, nil
	g.list.active = false
	for i, at := range waits {
		end := len(command)
		if i+1 < len(waits) {
			end = waits[i+1]
		}
		g.continuations = append(g.continuations, command[at:end])
	}
	if len(waits) > 0 {
		g.command = command[:waits[0]]
		g.continuations[len(waits)-1] += "\r\n"
	}
	g.mu.Unlock()
	g.s.awaitReply()
}

// allowLiteral raises the size limit for the server's answer by n bytes, the
// length of a literal. Parentheses in the literal are not counted.
func (g *clientConn) allowLiteral(n int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.remaining += n
	g.literal = n
}

// refill raises the size limit for the server's answer after each listing
// entry, so that a listing can have any length. It also restarts the reply
// timeout.
func (g *clientConn) refill() {
	g.mu.Lock()
	g.remaining = min(g.remaining+entryAllowance, maxAnswer)
	g.mu.Unlock()
	g.s.awaitReply()
}

func (g *clientConn) Read(p []byte) (int, error) {
	if len(g.pending) > 0 {
		n := copy(p, g.pending)
		g.pending = g.pending[n:]
		return n, nil
	}
	for {
		n, err := g.read(p)
		n, next := g.takeContinuations(p[:n])
		text := g.repairList(p[:n])
		n = copy(p, text)
		g.pending = text[n:]
		for _, part := range next {
			g.s.awaitReply()
			if err := g.s.Send([]byte(part), []byte(part)); err != nil {
				return 0, g.setReadErr(err)
			}
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// repairList corrects malformed LIST responses in text.
func (g *clientConn) repairList(text []byte) []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.list.repair(text)
}

// takeContinuations removes continuation requests (RFC 3501 7.5) from text,
// because imapclient does not expect them. It returns the length of the
// remaining text and the next parts of the command, which the client can now
// send.
func (g *clientConn) takeContinuations(text []byte) (n int, next []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.continuations) == 0 && !g.inContinuation {
		if len(text) > 0 {
			g.midLine = text[len(text)-1] != '\n'
		}
		return len(text), nil
	}
	for _, c := range text {
		if c == '+' && !g.midLine && len(g.continuations) > 0 {
			g.inContinuation = true
		}
		if g.midLine = c != '\n'; !g.inContinuation {
			text[n] = c
			n++
		} else if c == '\n' {
			next, g.continuations, g.inContinuation = append(next, g.continuations[0]), g.continuations[1:], false
		}
	}
	return n, next
}

// read reads from the server and fails if the answer exceeds a limit.
func (g *clientConn) read(p []byte) (int, error) {
	g.mu.Lock()
	left, limit := g.remaining, g.limit
	size := min(left, g.literal+maxRead)
	g.mu.Unlock()
	if left <= 0 {
		return 0, g.setReadErr(fetch.TooLarge.Errorf("response is longer than %d bytes", limit))
	}
	n, err := g.s.Lines.Read(p[:min(int64(len(p)), size)])
	if !g.checkLimits(p[:n]) {
		return 0, g.setReadErr(fetch.Protocol.Errorf("response has more than %d nested parentheses", maxOpenParens))
	}
	if err == io.EOF {
		// imapclient would treat io.EOF as the end of a literal. It would then
		// read from the connection while the caller still reads the literal.
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		g.setReadErr(err)
	}
	return n, err
}

// checkLimits counts the bytes of text against the size limit. It returns false
// if text has too many nested parentheses.
func (g *clientConn) checkLimits(text []byte) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.remaining -= int64(len(text))
	if skip := min(g.literal, int64(len(text))); skip > 0 {
		g.literal -= skip
		g.openParens = 0
		text = text[skip:]
	}
	for _, c := range text {
		if c != '(' {
			g.openParens = 0
		} else if g.openParens++; g.openParens > maxOpenParens {
			return false
		}
	}
	return true
}

// setReadErr records err, unless an earlier error is already recorded. It
// returns the recorded error.
func (g *clientConn) setReadErr(err error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil {
		g.err = err
	}
	return g.err
}

// readErr returns the error that setReadErr has recorded, or nil.
func (g *clientConn) readErr() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// Write sends one command. It relies on imapclient to write each command with a
// single call.
func (g *clientConn) Write(p []byte) (int, error) {
	out := p
	if tag, _, ok := bytes.Cut(p, []byte(" ")); ok && g.command != "" {
		out = append(append(bytes.Clone(tag), ' '), g.command...)
		if !bytes.HasSuffix(out, []byte("\r\n")) { // a command that waits for a continuation request ends with CR LF already
			out = append(out, "\r\n"...)
		}
		g.command = ""
	}
	if err := g.s.Send(out, out); err != nil {
		return 0, g.setReadErr(err)
	}
	return len(p), nil
}

// SetReadDeadline does nothing, because the session sets its own deadlines.
func (g *clientConn) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing, because the session sets its own deadlines.
func (g *clientConn) SetWriteDeadline(time.Time) error { return nil }

// Close closes the TCP connection without sending a TLS close_notify alert.
func (g *clientConn) Close() error { return g.s.NetConn.Close() }
