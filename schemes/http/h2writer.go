package http

import (
	"errors"
	"io"
	"runtime"
	"sync"
	"syscall"
	"time"
)

const (
	// maxUnwritten is the number of bytes after which Write waits. Package
	// net/http writes frames of up to 16 KiB.
	maxUnwritten = 64 << 10

	// flushTime limits the time for which close waits for the last bytes.
	flushTime = time.Second
)

// A frameWriter combines small writes to a connection. Package net/http writes
// each request on its own, and each write is a TLS record and a system call. A
// frameWriter collects the requests of all goroutines that can run.
//
// Write returns before the bytes are written. After a failed write, Write
// returns the error, and so does the next Read of the connection.
type frameWriter struct {
	w     io.Writer
	abort func() error // closes the connection

	mu        sync.Mutex
	changed   sync.Cond // of the fields below
	unwritten []byte
	writing   bool
	closed    bool
	err       error

	done chan struct{} // closed when run returns
}

// newFrameWriter starts the goroutine that writes. It ends after close, or after
// a failed write.
func newFrameWriter(w io.Writer, abort func() error) *frameWriter {
	f := &frameWriter{w: w, abort: abort, done: make(chan struct{})}
	f.changed.L = &f.mu
	go f.run()
	return f
}

func (f *frameWriter) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.unwritten) >= maxUnwritten && f.err == nil && !f.closed {
		f.changed.Wait()
	}
	switch {
	case f.err != nil:
		return 0, f.err
	case f.closed:
		return 0, io.ErrClosedPipe
	}
	f.unwritten = append(f.unwritten, p...)
	f.changed.Broadcast()
	return len(p), nil
}

func (f *frameWriter) run() {
	defer close(f.done)
	var spare []byte
	for {
		batch := f.take(spare)
		if batch == nil {
			return
		}
		_, err := f.w.Write(batch)
		f.mu.Lock()
		f.writing, f.err = false, err
		f.changed.Broadcast()
		f.mu.Unlock()
		if err != nil {
			// If the server has reset the connection, the client can still read the
			// responses that arrived before. The last Read fails.
			if !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
				f.abort()
			}
			return
		}
		spare = batch[:0]
	}
}

// take waits for bytes and returns them. It returns nil after close if no bytes
// are left.
func (f *frameWriter) take(spare []byte) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.unwritten) == 0 && !f.closed {
		f.changed.Wait()
	}
	if len(f.unwritten) == 0 {
		return nil
	}
	f.mu.Unlock()
	runtime.Gosched() // other goroutines can add their requests
	f.mu.Lock()
	batch := f.unwritten
	f.unwritten, f.writing = spare, true
	f.changed.Broadcast()
	return batch
}

// failed returns the error of the first failed write.
func (f *frameWriter) failed() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// close writes the remaining bytes. The function limit sets the deadline of
// this write.
func (f *frameWriter) close(limit func(time.Time) error) {
	f.mu.Lock()
	f.closed = true
	busy := f.err == nil && (f.writing || len(f.unwritten) > 0)
	f.changed.Broadcast()
	f.mu.Unlock()
	if busy && limit(time.Now().Add(flushTime)) == nil {
		<-f.done
	}
}
