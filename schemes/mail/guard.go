package mail

import (
	"bytes"
	"io"
	"net"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/rfc822"
	"github.com/emersion/go-imap/v2/imapclient"
)

// A guard is the connection that imapclient uses. It limits the size of
// answers, so that imapclient cannot exhaust memory. It also ignores the
// deadlines of imapclient, because they would cut off long messages. It records
// the error that ended the connection, because imapclient reports errors only
// as text. It replaces commands that imapclient cannot write as required.
type guard struct {
	net.Conn
	s       *session
	pending []byte // bytes that Read returns before any others
	command string // replaces the next command after its tag; "" keeps the command

	mu             sync.Mutex
	continuations  []string // remaining parts of the command; each is sent after a continuation request
	inContinuation bool     // within a line that starts with "+"
	midLine        bool     // within any other line
	list           listRepairer
	remaining      int64 // bytes that may still be read
	limit          int64 // initial value of remaining
	literal        int64 // bytes of the current literal that are still to be read
	openParens     int   // consecutive opening parentheses
	err            error // first error of reading or writing
}

const (
	maxAnswer       = 256 << 10 // bytes of the answer to one command, without literals of a body
	entryAllowance  = 64 << 10
	maxSearchAnswer = 1 << 20 // bytes of the answer to a search

	// imapclient parses nested parentheses recursively and without a depth
	// limit. After an error, its run time is quadratic in the depth. The limit
	// allows for the 4096 bytes that imapclient buffers, which may belong to a
	// literal.
	maxOpenParens = 4096 + 512
)

// startClient hands the connection over to imapclient. It announces no
// capabilities to imapclient, because the session writes the commands that
// depend on capabilities.
func (s *session) startClient() {
	version := "IMAP4rev1"
	if !s.caps["IMAP4REV1"] && s.caps["IMAP4REV2"] {
		version = "IMAP4rev2"
	}
	s.guard = &guard{Conn: s.Stream, s: s, remaining: maxAnswer,
		pending: []byte("* PREAUTH [CAPABILITY " + version + "] logged in\r\n")}
	s.client = imapclient.New(s.guard, &imapclient.Options{
		WordDecoder: rfc822.WordDecoder(),
		// Without this handler, imapclient itself discards unsolicited FETCH
		// responses, in a way that is not safe if the connection ends.
		UnilateralDataHandler: &imapclient.UnilateralDataHandler{
			Fetch: func(m *imapclient.FetchMessageData) { discardItems(m) },
		},
	})
	s.client.WaitGreeting()
}

// startCommand replaces the next command of imapclient by command, unless
// command is empty. It also resets the size limit and the timeout for the
// answer.
func (g *guard) startCommand(command string) { g.startSized(command, maxAnswer) }

// startList prepares for a LIST command of imapclient, and enables the repair
// of LIST responses.
func (g *guard) startList() {
	g.startCommand("")
	g.mu.Lock()
	g.list.active = true
	g.mu.Unlock()
}

// startSized works like startCommand with a size limit of size bytes. At each
// offset in waits, the client must wait for a continuation request before it
// sends the remaining bytes.
func (g *guard) startSized(command string, size int64, waits ...int) {
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

// allowLiteral raises the size limit by a literal of n bytes. Parentheses in
// the literal are not counted.
func (g *guard) allowLiteral(n int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.remaining += n
	g.literal = n
}

// refill raises the size limit after an entry of a listing was read.
func (g *guard) refill() {
	g.mu.Lock()
	g.remaining = min(g.remaining+entryAllowance, maxAnswer)
	g.mu.Unlock()
	g.s.awaitReply()
}

func (g *guard) Read(p []byte) (int, error) {
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

// repairList calls [listRepairer.repair] with the lock held.
func (g *guard) repairList(text []byte) []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.list.repair(text)
}

// takeContinuations removes continuation requests (RFC 3501 7.5) from text,
// because imapclient does not expect them. It returns the length of the
// remaining text and the parts of the command to send.
func (g *guard) takeContinuations(text []byte) (n int, next []string) {
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

// read reads from the server and enforces the limits.
func (g *guard) read(p []byte) (int, error) {
	g.mu.Lock()
	left, limit := g.remaining, g.limit
	g.mu.Unlock()
	if left <= 0 {
		return 0, g.setReadErr(fetch.TooLarge.Errorf("response is longer than %d bytes", limit))
	}
	n, err := g.s.Lines.Read(p[:min(int64(len(p)), left)])
	if !g.checkLimits(p[:n]) {
		return 0, g.setReadErr(fetch.Protocol.Errorf("response has more than %d nested parentheses", maxOpenParens))
	}
	if err == io.EOF {
		// imapclient would take io.EOF for the end of a literal, and continue
		// to read the connection while the body is still in use.
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		g.setReadErr(err)
	}
	return n, err
}

// checkLimits counts text against the limits. It returns false if text has too
// many nested parentheses.
func (g *guard) checkLimits(text []byte) bool {
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

// setReadErr records err unless an earlier error is recorded. It returns the
// recorded error.
func (g *guard) setReadErr(err error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil {
		g.err = err
	}
	return g.err
}

// readErr returns the recorded error, or nil.
func (g *guard) readErr() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// Write sends one command. imapclient writes each command with a single call.
func (g *guard) Write(p []byte) (int, error) {
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

// SetReadDeadline has no effect. The session sets its own deadlines.
func (g *guard) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline has no effect. The session sets its own deadlines.
func (g *guard) SetWriteDeadline(time.Time) error { return nil }

// Close closes the network connection without a TLS close-notify alert.
func (g *guard) Close() error { return g.s.NetConn.Close() }
