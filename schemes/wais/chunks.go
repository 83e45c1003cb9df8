package wais

import (
	"bytes"
	"io"
	"net"
	"sync"
	"sync/atomic"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/z3950"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// chunks reads a document in chunks, with one request for each chunk.
type chunks struct {
	rest  z3950.Retrieval // the missing part of the document; its End may be unknown
	lease *lease
	step  int64 // bytes or lines per request

	reading   sync.Mutex // locked during a Read
	closed    atomic.Bool
	buf, text []byte
	started   bool  // a chunk was received
	err       error // io.EOF after the end of the document
}

// Estimates for the overhead of a chunk and the length of a line, in bytes.
const (
	chunkHead = 64
	lineSize  = 80
)

// minStep is the minimum size of a requested chunk for each unit. A server that
// cannot send so small a chunk cannot send the document.
var minStep = [...]int64{z3950.Bytes: 64, z3950.Lines: 1}

// start requests the first chunk. The chunk uses nine tenths of the negotiated
// message size, because freeWAIS needs space for overhead.
func (c *chunks) start(l *lease) error {
	c.lease = l
	c.step = int64(l.Session.size) - int64(l.Session.size)/10 - int64(len(c.rest.ID)) - chunkHead
	if c.rest.Unit == z3950.Lines {
		c.step /= lineSize
	}
	c.step = max(c.step, minStep[c.rest.Unit])
	return c.fill()
}

// fill requests the next chunk. If the response does not fit into the
// negotiated size, it requests a smaller chunk.
func (c *chunks) fill() error {
	for {
		ask := c.rest
		if ask.End-ask.Start > c.step {
			ask.End = ask.Start + c.step
		}
		err := c.request(ask)
		if err != errTooLarge {
			return err
		}
		if c.step /= 2; c.step < minStep[ask.Unit] {
			return err
		}
	}
}

func (c *chunks) request(ask z3950.Retrieval) error {
	if err := c.lease.Session.search(ask.Search()); err != nil {
		return err
	}
	got, some, refusal := int64(0), false, ""
	var fault error
	for {
		r, err := c.lease.Session.record()
		switch {
		case err == io.EOF:
			return c.accept(got, some, refusal, fault)
		case err != nil:
			return err
		case r.Kind == z3950.Diagnosis:
			refusal, fault = r.Diagnostic.Code, diagnosis(r.Diagnostic)
		case r.Kind != z3950.Text:
		case some:
			return fetch.Protocol.Errorf("server sent two chunks in one response")
		case r.ID != nil && !bytes.Equal(r.ID, ask.ID):
			return fetch.Protocol.Errorf("server sent a chunk of another document")
		default:
			some = true
			c.buf = append(c.buf[:0], r.Text...)
			if got = count(r.Text, ask.Unit); got > ask.End-ask.Start {
				return fetch.Protocol.Errorf("server sent a chunk of %d %s, but %d were requested", got, ask.Unit, ask.End-ask.Start)
			}
		}
	}
}

// Diagnostic codes of freeWAIS that concern chunks.
const (
	outOfRange      = "SF" // the range is outside the document, or the document does not exist
	tooLarge        = "SI" // larger than the preferred size
	tooLargeToAllow = "SJ" // larger than the maximum size
)

// accept makes the received chunk available to Read. At the end of a document,
// freeWAIS reports that the range is outside the document. If the first
// response has this diagnostic and no text, the document does not exist.
func (c *chunks) accept(got int64, some bool, refusal string, fault error) error {
	switch {
	case refusal == tooLarge, refusal == tooLargeToAllow:
		return errTooLarge
	case fault != nil && (refusal != outOfRange || !some && !c.started):
		return fault
	case !some && !c.started:
		return fetch.Protocol.Errorf("server sent neither a chunk nor a diagnostic")
	}
	if c.started = true; !some {
		c.buf = c.buf[:0]
	}
	c.text = c.buf
	c.rest.Start += got
	if fault != nil || got == 0 || c.rest.Start >= c.rest.End {
		c.err = io.EOF
		c.lease.End(true)
	}
	return nil
}

// count returns the number of bytes or lines in text. The last line may lack
// its line end.
func count(text []byte, unit z3950.Unit) int64 {
	if unit != z3950.Lines {
		return int64(len(text))
	}
	n := int64(bytes.Count(text, []byte{'\n'}))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

func (c *chunks) Read(p []byte) (int, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	for len(c.text) == 0 || c.closed.Load() {
		if c.closed.Load() {
			return 0, net.ErrClosed
		}
		if c.err != nil {
			return 0, c.err
		}
		if err := c.fill(); err != nil {
			c.text, c.err = nil, sessions.TruncatedFault(err)
			c.lease.End(false)
		}
	}
	n := copy(p, c.text)
	c.text = c.text[n:]
	return n, nil
}

// Close ends the transfer. Close may be called during a Read. The session can
// be reused if no chunk is being read.
func (c *chunks) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	if !c.reading.TryLock() {
		c.lease.End(false)
		return nil
	}
	defer c.reading.Unlock()
	c.lease.End(true)
	return nil
}
