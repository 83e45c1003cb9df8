package mail

import (
	"bytes"
	"io"
	"net"
	"sync"
	"time"

	"github.com/anyurl/fetch/internal/format/rfc822"
	"github.com/emersion/go-imap/v2/imapclient"
)

// A clientConn wraps the connection that package imapclient reads and writes. It
// ignores the deadlines that imapclient sets, because they would interrupt long
// messages. It can replace a command that imapclient writes by another command.
//
// A response passes three steps before imapclient reads it: an answerLimit
// limits its size, a continuationFilter removes continuation requests, and a
// listRepairer corrects LIST responses. imapclient reports connection errors
// only as text, so the clientConn records the first error.
type clientConn struct {
	net.Conn
	s       *session
	pending []byte // bytes that Read returns before it reads from the server
	command string // if not empty, replaces the text after the tag of the next command

	mu            sync.Mutex
	limit         answerLimit
	continuations continuationFilter
	list          listRepairer
	err           error // first error of reading or writing
}

// startClient creates the IMAP client that uses the connection after the login.
// It passes no capabilities to the client, because the session itself writes
// all commands that depend on capabilities.
func (s *session) startClient() {
	version := "IMAP4rev1"
	if !s.caps["IMAP4REV1"] && s.caps["IMAP4REV2"] {
		version = "IMAP4rev2"
	}
	s.clientConn = &clientConn{Conn: s.Stream, s: s, limit: newAnswerLimit(maxAnswer),
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
func (g *clientConn) startCommand(command string) { g.start(command, maxAnswer, false) }

// startList prepares for a LIST command and enables the repair of malformed
// LIST responses.
func (g *clientConn) startList() { g.start("", maxAnswer, true) }

// startSearch is like startCommand, with the size limit for a search. The
// offsets in waits divide the command into parts. After each part, the client
// waits for a continuation request of the server.
func (g *clientConn) startSearch(command string, waits []int) {
	var parts []string
	start := 0
	for _, at := range waits {
		parts = append(parts, command[start:at])
		start = at
	}
	if parts = append(parts, command[start:]); len(waits) > 0 {
		parts[len(waits)] += "\r\n"
	}
	g.start(parts[0], maxSearchAnswer, false, parts[1:]...)
}

func (g *clientConn) start(command string, size int64, repair bool, parts ...string) {
	g.mu.Lock()
	g.command, g.limit = command, newAnswerLimit(size)
	g.continuations.parts, g.list.active = parts, repair
	g.mu.Unlock()
	g.s.awaitReply()
}

// allowLiteral raises the size limit for the server's answer by n bytes, the
// length of a literal.
func (g *clientConn) allowLiteral(n int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.limit.allowLiteral(n)
}

// refill raises the size limit for the server's answer after each listing
// entry, so that a listing can have any length. It also restarts the reply
// timeout.
func (g *clientConn) refill() {
	g.mu.Lock()
	g.limit.refill()
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
		text, next := g.filter(p[:n])
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

// filter removes continuation requests from text and corrects LIST responses.
// It returns the text for imapclient and the parts of the command that the
// client can now send.
func (g *clientConn) filter(text []byte) ([]byte, []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	text, next := g.continuations.filter(text)
	return g.list.repair(text), next
}

// read reads from the server and fails if the answer exceeds a limit.
func (g *clientConn) read(p []byte) (int, error) {
	g.mu.Lock()
	size, err := g.limit.nextRead()
	g.mu.Unlock()
	if err != nil {
		return 0, g.setReadErr(err)
	}
	n, err := g.s.Lines.Read(p[:min(int64(len(p)), size)])
	g.mu.Lock()
	limitErr := g.limit.count(p[:n])
	g.mu.Unlock()
	if limitErr != nil {
		return 0, g.setReadErr(limitErr)
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
