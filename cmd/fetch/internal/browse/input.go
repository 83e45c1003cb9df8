package browse

import (
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/anyurl/fetch/fetch"
)

// An Input reads standard input for the prompt of the browser and for the
// sessions that the browser opens. A session can end while a read is blocked.
// The result of that read is then returned by the next read, so that no typed
// character is lost.
//
// Each blocked read has a goroutine, which ends when the read returns.
type Input struct {
	in   io.Reader
	busy bool // a read is in progress
	done chan chunk
	rest []byte // bytes that have been read and not used
	err  error
}

// A chunk is the result of a read.
type chunk struct {
	data []byte
	err  error
}

// NewInput returns an Input that reads from in.
func NewInput(in io.Reader) *Input { return &Input{in: in, done: make(chan chunk, 1)} }

// maxLine is the maximum length of a typed line, in bytes.
const maxLine = 64 << 10

// readLine returns the next line without its line end. It returns io.EOF at the
// end of the input.
func (i *Input) readLine(ctx context.Context) (string, error) {
	var line []byte
	for {
		if n := bytes.IndexByte(i.rest, '\n'); n >= 0 {
			line = append(line, i.rest[:n]...)
			i.rest = i.rest[n+1:]
			return string(bytes.TrimSuffix(line, []byte("\r"))), nil
		}
		line = append(line, i.rest...)
		i.rest = nil
		if len(line) > maxLine {
			return "", fetch.Usage.Errorf("line of the input is longer than %d bytes", maxLine)
		}
		err := i.fill(ctx)
		if err == io.EOF && len(line) > 0 {
			err = nil
			return string(line), nil
		}
		if err != nil {
			return "", err
		}
	}
}

// fill blocks until i.rest contains bytes, the input ends or ctx is canceled.
func (i *Input) fill(ctx context.Context) error {
	if len(i.rest) > 0 {
		return nil
	}
	if i.err != nil {
		return i.err
	}
	if !i.busy {
		i.busy = true
		go func() {
			buffer := make([]byte, 4<<10)
			n, err := i.in.Read(buffer)
			i.done <- chunk{buffer[:n], err}
		}()
	}
	select {
	case c := <-i.done:
		i.busy, i.rest, i.err = false, c.data, c.err
		if len(i.rest) > 0 {
			return nil
		}
		return i.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// session returns a reader for a session, and a function that ends it. After
// that function has returned, the reader consumes no more input.
func (i *Input) session(ctx context.Context) (io.Reader, func()) {
	ctx, cancel := context.WithCancel(ctx)
	r := &sessionReader{ctx: ctx, input: i}
	return r, func() {
		cancel()
		r.mu.Lock()
		r.ended = true
		r.mu.Unlock()
	}
}

type sessionReader struct {
	ctx   context.Context
	input *Input

	mu    sync.Mutex
	ended bool
}

func (r *sessionReader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return 0, io.EOF
	}
	if err := r.input.fill(r.ctx); err != nil {
		return 0, err
	}
	n := copy(p, r.input.rest)
	r.input.rest = r.input.rest[n:]
	return n, nil
}
