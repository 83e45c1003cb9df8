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

// A guard is the connection that the library sees. It bounds what the library
// takes into memory, keeps its absolute deadlines from ending a long message,
// remembers what ended the connection, since the library tells it as text
// alone, and puts our own words into commands that the library cannot say or
// says in an order that changes.
type guard struct {
	net.Conn
	s       *session
	pending []byte // what the library reads before anything of the server
	command string // what the next command says behind its tag; "": what the library has

	mu             sync.Mutex
	continuations  []string // of the command, each behind a literal's length: sent when the server asks for it
	inContinuation bool     // within a line of the server that does so
	midLine        bool     // within another line
	list           listRepairer
	remaining      int64 // what may still be read
	limit          int64 // what left was at first
	literal        int64 // bytes of a literal that come next, or have come
	openParens     int   // parentheses that have just been opened
	err            error // what ended the reading
}

const (
	maxAnswer       = 256 << 10 // what the answer to one command may have, literals of a body apart
	entryAllowance  = 64 << 10
	maxSearchAnswer = 1 << 20 // what a search may find

	// The library descends once for each parenthesis that opens behind
	// another, without a limit, and an error there takes time by the square
	// of that. It reads 4096 bytes ahead, maybe of a literal.
	maxOpenParens = 4096 + 512
)

// handOver gives the connection to the library. It is told of no capability:
// what depends on them we write ourselves.
func (s *session) startClient() {
	version := "IMAP4rev1"
	if !s.caps["IMAP4REV1"] && s.caps["IMAP4REV2"] {
		version = "IMAP4rev2"
	}
	s.guard = &guard{Conn: s.Stream, s: s, remaining: maxAnswer,
		pending: []byte("* PREAUTH [CAPABILITY " + version + "] logged in\r\n")}
	s.client = imapclient.New(s.guard, &imapclient.Options{
		WordDecoder: rfc822.WordDecoder(),
		// What nobody waits for: the library takes it in a way that is not
		// safe where the connection ends.
		UnilateralDataHandler: &imapclient.UnilateralDataHandler{Fetch: func(m *imapclient.FetchMessageData) { discardItems(m) }},
	})
	s.client.WaitGreeting()
}

// begin makes ready for one command and the time and space of its answer.
func (g *guard) startCommand(words string) { g.startSized(words, maxAnswer) }

// beginList is begin for the library's LIST.
func (g *guard) startList() {
	g.startCommand("")
	g.mu.Lock()
	g.list.active = true
	g.mu.Unlock()
}

// beginLarge is begin for an answer of another size.
// The client waits for the server before each of the offsets waits of words.
func (g *guard) startSized(words string, size int64, waits ...int) {
	g.mu.Lock()
	g.remaining, g.limit, g.command, g.continuations = size, size, words, nil
	g.list.active = false
	for i, at := range waits {
		end := len(words)
		if i+1 < len(waits) {
			end = waits[i+1]
		}
		g.continuations = append(g.continuations, words[at:end])
	}
	if len(waits) > 0 {
		g.command = words[:waits[0]]
		g.continuations[len(waits)-1] += "\r\n"
	}
	g.mu.Unlock()
	g.s.awaitReply()
}

// allow lets a literal of n bytes be read, whatever is in it.
func (g *guard) allowLiteral(n int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.remaining += n
	g.literal = n
}

// refill is allow for an entry of a listing that was taken from the library.
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

// repair is listLines.repair.
func (g *guard) repairList(text []byte) []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.list.repair(text)
}

// goAhead takes the lines out of text in which the server asks for the rest of
// a command (RFC 3501 7.5), because the library knows of no such command. It
// returns the length of what is left, and what is to be sent.
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

// read reads from the server.
func (g *guard) read(p []byte) (int, error) {
	g.mu.Lock()
	left, limit := g.remaining, g.limit
	g.mu.Unlock()
	if left <= 0 {
		return 0, g.setReadErr(fetch.TooLarge.Errorf("answer of more than %d bytes", limit))
	}
	n, err := g.s.Lines.Read(p[:min(int64(len(p)), left)])
	if !g.checkLimits(p[:n]) {
		return 0, g.setReadErr(fetch.Protocol.Errorf("more than %d parentheses within each other", maxOpenParens))
	}
	if err == io.EOF {
		// The library would take it for the end of a literal, and read on
		// while we still do.
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		g.setReadErr(err)
	}
	return n, err
}

// judge counts what was read.
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

// fail keeps the first error.
func (g *guard) setReadErr(err error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil {
		g.err = err
	}
	return g.err
}

// failed is what ended the reading, or nil.
func (g *guard) readErr() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// Write takes one command, which the library writes at once.
func (g *guard) Write(p []byte) (int, error) {
	out := p
	if tag, _, ok := bytes.Cut(p, []byte(" ")); ok && g.command != "" {
		out = append(append(bytes.Clone(tag), ' '), g.command...)
		if !bytes.HasSuffix(out, []byte("\r\n")) { // of a literal's length
			out = append(out, "\r\n"...)
		}
		g.command = ""
	}
	if err := g.s.Send(out, out); err != nil {
		return 0, g.setReadErr(err)
	}
	return len(p), nil
}

// SetReadDeadline leaves deadlines to us.
func (g *guard) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does, too.
func (g *guard) SetWriteDeadline(time.Time) error { return nil }

// Close ends the connection at once: TLS would say goodbye first.
func (g *guard) Close() error { return g.s.NetConn.Close() }
