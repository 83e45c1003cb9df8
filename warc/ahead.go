package warc

import (
	"errors"
	"io"
)

// A recordReader reads records in sequence, like a [Reader].
type recordReader interface {
	Next() (*Header, error)
	Read(p []byte) (int, error)
	Finish() (length int64, err error)

	// ending describes the bytes after the block of the last finished record.
	ending() (stray int64, missingEnd bool)
}

func (r *Reader) ending() (stray int64, missingEnd bool) { return r.stray, r.missingEnd }

// An aheadReader reads the records of a Reader in another goroutine. The caller
// can compute digests of a block while the next bytes are decompressed. Its
// methods return the same results as the methods of the Reader.
type aheadReader struct {
	parts chan recordPart
	free  chan []byte   // buffers for parts
	stop  chan struct{} // closed by close

	part  recordPart // current part
	final error      // result of Next after the last part
}

// A recordPart is a part of a record, or an error of Next.
type recordPart struct {
	header *Header // nil in later parts of the record
	data   []byte  // bytes of the block
	last   bool    // no more parts follow
	err    error   // error of Next, Read or Finish

	// These are results of Finish and ending, in the last part.
	length     int64
	stray      int64
	missingEnd bool
}

// aheadBuffers is the number of parts that an aheadReader reads ahead.
const aheadBuffers = 8

// newAheadReader starts to read. The caller must call close before it uses the
// input of the Reader again.
func newAheadReader(in *Reader) *aheadReader {
	a := &aheadReader{
		parts: make(chan recordPart, aheadBuffers), free: make(chan []byte, aheadBuffers), stop: make(chan struct{}),
		part: recordPart{last: true}, final: io.EOF,
	}
	for range aheadBuffers {
		a.free <- nil // is allocated when it is needed
	}
	go a.run(in)
	return a
}

// close ends the goroutine and waits for it.
func (a *aheadReader) close() {
	close(a.stop)
	for range a.parts {
	}
}

func (a *aheadReader) run(in *Reader) {
	defer close(a.parts)
	for {
		h, err := in.Next()
		if err == nil {
			err = a.readBlock(in, h)
		} else if !a.send(recordPart{last: true, err: err}) {
			return
		}
		if e := (*Error)(nil); err != nil && !errors.As(err, &e) {
			return
		}
	}
}

// errClosed means that close was called.
var errClosed = errors.New("closed")

// readBlock sends the parts of a record. It returns the error of the last part.
func (a *aheadReader) readBlock(in *Reader, h *Header) error {
	for p := (recordPart{header: h}); ; p = (recordPart{}) {
		select {
		case p.data = <-a.free:
		case <-a.stop:
			return errClosed
		}
		if p.data == nil {
			p.data = make([]byte, bufferSize)
		}
		n, err := io.ReadFull(in, p.data)
		p.data = p.data[:n]
		switch err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			p.last = true
			p.length, p.err = in.Finish()
			p.stray, p.missingEnd = in.ending()
		default:
			p.last, p.err = true, err
		}
		switch {
		case !a.send(p):
			return errClosed
		case p.last:
			return p.err
		}
	}
}

// send returns false if close was called.
func (a *aheadReader) send(p recordPart) bool {
	select {
	case a.parts <- p:
		return true
	case <-a.stop:
		return false
	}
}

// advance receives the next part.
func (a *aheadReader) advance() {
	a.recycle()
	p, ok := <-a.parts
	if !ok {
		p = recordPart{last: true, err: a.final}
	}
	a.part = p
}

// recycle returns the buffer of the current part to the goroutine.
func (a *aheadReader) recycle() {
	if a.part.data != nil {
		a.free <- a.part.data[:cap(a.part.data)]
		a.part.data = nil
	}
}

// Next returns the header of the next record, see [Reader.Next].
func (a *aheadReader) Next() (*Header, error) {
	if _, err := a.Finish(); err != nil {
		return nil, err
	}
	if a.advance(); a.part.header == nil {
		return nil, a.takeError()
	}
	return a.part.header, nil
}

// takeError returns the error of the current part once. An error of the file
// system ends the reading.
func (a *aheadReader) takeError() error {
	err := a.part.err
	a.part.err = nil
	if e := (*Error)(nil); err != nil && !errors.As(err, &e) {
		a.final = err
	}
	return err
}

// Read is not used, because WriteTo copies less.
func (a *aheadReader) Read([]byte) (int, error) { return 0, io.ErrNoProgress }

// WriteTo writes the block of the current record to w. Finish returns an error
// of the block.
func (a *aheadReader) WriteTo(w io.Writer) (n int64, err error) {
	for {
		m, err := w.Write(a.part.data)
		if n += int64(m); err != nil || a.part.last {
			return n, err
		}
		a.advance()
	}
}

// Finish returns the length of the current record, see [Reader.Finish].
func (a *aheadReader) Finish() (length int64, err error) {
	for !a.part.last {
		a.advance()
	}
	return a.part.length, a.takeError()
}

func (a *aheadReader) ending() (stray int64, missingEnd bool) {
	return a.part.stray, a.part.missingEnd
}
