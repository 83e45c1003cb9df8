package wais

import (
	"bytes"
	"io"
	"net"
	"sync"
	"sync/atomic"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/z3950"
)

// chunks is the Body of a document: it asks for one chunk after the other.
type chunks struct {
	rest  z3950.Retrieval // what is still to come; its End may be unknown
	lease *lease
	step  int64 // how many units are asked for at once

	reading   sync.Mutex // held by a Read
	closed    atomic.Bool
	buf, text []byte
	began     bool  // a chunk has come
	err       error // io.EOF once the document has ended
}

// What a chunk has beside the text, and how long lines are taken to be.
const (
	chunkHead = 64
	lineSize  = 80
)

// least is the smallest chunk that is asked for, by its unit: a server that
// cannot encode even that never will.
var least = [...]int64{z3950.Bytes: 64, z3950.Lines: 1}

// begin brings the first chunk. A tenth of the agreed size is left free, as
// freeWAIS needs some of it.
func (c *chunks) begin(l *lease) error {
	c.lease = l
	c.step = int64(l.Session.size) - int64(l.Session.size)/10 - int64(len(c.rest.ID)) - chunkHead
	if c.rest.Unit == z3950.Lines {
		c.step /= lineSize
	}
	c.step = max(c.step, least[c.rest.Unit])
	return c.fill()
}

// fill asks for the next chunk, and for less where the answer does not fit.
func (c *chunks) fill() error {
	for {
		ask := c.rest
		if ask.End-ask.Start > c.step {
			ask.End = ask.Start + c.step
		}
		err := c.ask(ask)
		if err != errTooLarge {
			return err
		}
		if c.step /= 2; c.step < least[ask.Unit] {
			return err
		}
	}
}

func (c *chunks) ask(ask z3950.Retrieval) error {
	if err := c.lease.Session.search(ask.Search()); err != nil {
		return err
	}
	got, some, refusal := int64(0), false, ""
	var fault error
	for {
		r, err := c.lease.Session.record()
		switch {
		case err == io.EOF:
			return c.take(got, some, refusal, fault)
		case err != nil:
			return err
		case r.Kind == z3950.Diagnosis:
			refusal, fault = r.Diagnostic.Code, diagnosis(r.Diagnostic)
		case r.Kind != z3950.Text:
		case some:
			return fetch.Protocol.Errorf("two chunks for one")
		case r.ID != nil && !bytes.Equal(r.ID, ask.ID):
			return fetch.Protocol.Errorf("chunk of another document")
		default:
			some = true
			c.buf = append(c.buf[:0], r.Text...)
			if got = count(r.Text, ask.Unit); got > ask.End-ask.Start {
				return fetch.Protocol.Errorf("chunk of %d %s where %d were asked for", got, ask.Unit, ask.End-ask.Start)
			}
		}
	}
}

// The codes of a diagnostic that say more than no.
const (
	outOfRange      = "SF" // also: no such document
	tooLarge        = "SI" // for the preferred size
	tooLargeToAllow = "SJ" // for the largest
)

// take makes the chunk that was read what Read gives out. Behind the last one
// freeWAIS says that the range does not fit; alone, and without an empty text
// beside it, that stands for a document that is not there.
func (c *chunks) take(got int64, some bool, refusal string, fault error) error {
	switch {
	case refusal == tooLarge, refusal == tooLargeToAllow:
		return errTooLarge
	case fault != nil && (refusal != outOfRange || !some && !c.began):
		return fault
	case !some && !c.began:
		return fetch.Protocol.Errorf("neither a chunk nor a diagnostic")
	}
	if c.began = true; !some {
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

// count is the length of text in units; the last line may lack its end.
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
			c.text, c.err = nil, brokenOff(err)
			c.lease.End(false)
		}
	}
	n := copy(p, c.text)
	c.text = c.text[n:]
	return n, nil
}

// Close ends the transfer, also beside a Read. Between two chunks the session
// is of further use.
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

// brokenOff classes an error in the middle of a body.
func brokenOff(err error) error {
	if fetch.FaultOf(err) == fetch.Connect {
		return fetch.Truncated.Errorf("connection broke: %w", err)
	}
	return err
}
