package mail

import (
	"bytes"
	"io"
	"net"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
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

	mu   sync.Mutex
	left int64 // what may still be read
	err  error // what ended the reading
}

const (
	answerSize = 1 << 20 // what the answer to one command may have, literals of a body apart
	entrySize  = 64 << 10
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
		WordDecoder: words(),
		// What nobody waits for: the library takes it in a way that is not
		// safe where the connection ends.
		UnilateralDataHandler: &imapclient.UnilateralDataHandler{Fetch: func(m *imapclient.FetchMessageData) { skip(m) }},
	})
	s.client.WaitGreeting()
}

// begin makes ready for one command and the time and space of its answer.
func (g *guard) begin(words string) {
	g.mu.Lock()
	g.left, g.words = answerSize, words
	g.mu.Unlock()
	g.s.waiting()
}

// allow lets n bytes more be read.
func (g *guard) allow(n int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left += n
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
	left := g.left
	g.mu.Unlock()
	if left <= 0 {
		return 0, g.fail(fetch.TooLarge.Errorf("answer of more than %d bytes", answerSize))
	}
	n, err := g.s.lines.Read(p[:min(int64(len(p)), left)])
	g.allow(int64(-n))
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
