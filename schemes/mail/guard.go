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
	s.guard = &guard{Conn: s.wire, s: s, left: answerSize,
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

// beginLarge is begin for an answer of another size.
func (g *guard) beginLarge(words string, size int64) {
	g.mu.Lock()
	g.left, g.limit, g.words = size, size, words
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
	g.mu.Lock()
	left, limit := g.left, g.limit
	g.mu.Unlock()
	if left <= 0 {
		return 0, g.fail(fetch.TooLarge.Errorf("answer of more than %d bytes", limit))
	}
	n, err := g.s.lines.Read(p[:min(int64(len(p)), left)])
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
		out = append(out, "\r\n"...)
		g.words = ""
	}
	if err := g.s.send(out, out); err != nil {
		return 0, g.fail(err)
	}
	return len(p), nil
}

// SetReadDeadline leaves deadlines to us.
func (g *guard) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does, too.
func (g *guard) SetWriteDeadline(time.Time) error { return nil }

// Close ends the connection at once: TLS would say goodbye first.
func (g *guard) Close() error { return g.s.door.Close() }
