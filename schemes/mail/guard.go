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
	s     *session
	first []byte // what the library reads before anything of the server
	words string // what the next command says behind its tag; "": what the library has

	mu    sync.Mutex
	rest  []string // of the command, each behind a literal's length: sent when the server asks for it
	plus  bool     // within a line of the server that does so
	mid   bool     // within another line
	list  listLines
	left  int64 // what may still be read
	limit int64 // what left was at first
	skip  int64 // bytes of a literal that come next, or have come
	open  int   // parentheses that have just been opened
	err   error // what ended the reading
}

const (
	answerSize = 256 << 10 // what the answer to one command may have, literals of a body apart
	entrySize  = 64 << 10
	foundSize  = 1 << 20 // what a search may find

	// The library descends once for each parenthesis that opens behind
	// another, without a limit, and an error there takes time by the square
	// of that. It reads 4096 bytes ahead, maybe of a literal.
	maxOpen = 4096 + 512
)

// handOver gives the connection to the library. It is told of no capability:
// what depends on them we write ourselves.
func (s *session) handOver() {
	version := "IMAP4rev1"
	if !s.caps["IMAP4REV1"] && s.caps["IMAP4REV2"] {
		version = "IMAP4rev2"
	}
	s.guard = &guard{Conn: s.Stream, s: s, left: answerSize,
		first: []byte("* PREAUTH [CAPABILITY " + version + "] logged in\r\n")}
	s.client = imapclient.New(s.guard, &imapclient.Options{
		WordDecoder: rfc822.WordDecoder(),
		// What nobody waits for: the library takes it in a way that is not
		// safe where the connection ends.
		UnilateralDataHandler: &imapclient.UnilateralDataHandler{Fetch: func(m *imapclient.FetchMessageData) { skip(m) }},
	})
	s.client.WaitGreeting()
}

// begin makes ready for one command and the time and space of its answer.
func (g *guard) begin(words string) { g.beginLarge(words, answerSize) }

// beginList is begin for the library's LIST.
func (g *guard) beginList() {
	g.begin("")
	g.mu.Lock()
	g.list.on = true
	g.mu.Unlock()
}

// beginLarge is begin for an answer of another size.
// The client waits for the server before each of the offsets waits of words.
func (g *guard) beginLarge(words string, size int64, waits ...int) {
	g.mu.Lock()
	g.left, g.limit, g.words, g.rest = size, size, words, nil
	g.list.on = false
	for i, at := range waits {
		end := len(words)
		if i+1 < len(waits) {
			end = waits[i+1]
		}
		g.rest = append(g.rest, words[at:end])
	}
	if len(waits) > 0 {
		g.words = words[:waits[0]]
		g.rest[len(waits)-1] += "\r\n"
	}
	g.mu.Unlock()
	g.s.waiting()
}

// allow lets a literal of n bytes be read, whatever is in it.
func (g *guard) allow(n int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left += n
	g.skip = n
}

// refill is allow for an entry of a listing that was taken from the library.
func (g *guard) refill() {
	g.mu.Lock()
	g.left = min(g.left+entrySize, answerSize)
	g.mu.Unlock()
	g.s.waiting()
}

func (g *guard) Read(p []byte) (int, error) {
	if len(g.first) > 0 {
		n := copy(p, g.first)
		g.first = g.first[n:]
		return n, nil
	}
	for {
		n, err := g.read(p)
		n, next := g.goAhead(p[:n])
		text := g.repair(p[:n])
		n = copy(p, text)
		g.first = text[n:]
		for _, part := range next {
			g.s.waiting()
			if err := g.s.Send([]byte(part), []byte(part)); err != nil {
				return 0, g.fail(err)
			}
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// repair is listLines.repair.
func (g *guard) repair(text []byte) []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.list.repair(text)
}

// goAhead takes the lines out of text in which the server asks for the rest of
// a command (RFC 3501 7.5), because the library knows of no such command. It
// returns the length of what is left, and what is to be sent.
func (g *guard) goAhead(text []byte) (n int, next []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.rest) == 0 && !g.plus {
		if len(text) > 0 {
			g.mid = text[len(text)-1] != '\n'
		}
		return len(text), nil
	}
	for _, c := range text {
		if c == '+' && !g.mid && len(g.rest) > 0 {
			g.plus = true
		}
		if g.mid = c != '\n'; !g.plus {
			text[n] = c
			n++
		} else if c == '\n' {
			next, g.rest, g.plus = append(next, g.rest[0]), g.rest[1:], false
		}
	}
	return n, next
}

// read reads from the server.
func (g *guard) read(p []byte) (int, error) {
	g.mu.Lock()
	left, limit := g.left, g.limit
	g.mu.Unlock()
	if left <= 0 {
		return 0, g.fail(fetch.TooLarge.Errorf("answer of more than %d bytes", limit))
	}
	n, err := g.s.Lines.Read(p[:min(int64(len(p)), left)])
	if !g.judge(p[:n]) {
		return 0, g.fail(fetch.Protocol.Errorf("more than %d parentheses within each other", maxOpen))
	}
	if err == io.EOF {
		// The library would take it for the end of a literal, and read on
		// while we still do.
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		g.fail(err)
	}
	return n, err
}

// judge counts what was read.
func (g *guard) judge(text []byte) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left -= int64(len(text))
	if skip := min(g.skip, int64(len(text))); skip > 0 {
		g.skip -= skip
		g.open = 0
		text = text[skip:]
	}
	for _, c := range text {
		if c != '(' {
			g.open = 0
		} else if g.open++; g.open > maxOpen {
			return false
		}
	}
	return true
}

// fail keeps the first error.
func (g *guard) fail(err error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil {
		g.err = err
	}
	return g.err
}

// failed is what ended the reading, or nil.
func (g *guard) failed() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// Write takes one command, which the library writes at once.
func (g *guard) Write(p []byte) (int, error) {
	out := p
	if tag, _, ok := bytes.Cut(p, []byte(" ")); ok && g.words != "" {
		out = append(append(bytes.Clone(tag), ' '), g.words...)
		if !bytes.HasSuffix(out, []byte("\r\n")) { // of a literal's length
			out = append(out, "\r\n"...)
		}
		g.words = ""
	}
	if err := g.s.Send(out, out); err != nil {
		return 0, g.fail(err)
	}
	return len(p), nil
}

// SetReadDeadline leaves deadlines to us.
func (g *guard) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does, too.
func (g *guard) SetWriteDeadline(time.Time) error { return nil }

// Close ends the connection at once: TLS would say goodbye first.
func (g *guard) Close() error { return g.s.NetConn.Close() }
