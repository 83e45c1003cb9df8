package http

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A slowWriter is a connection whose writes wait until permitted.
type slowWriter struct {
	permit chan error // the result of the next Write

	mu     sync.Mutex
	writes [][]byte
	closed bool
}

func (s *slowWriter) Write(p []byte) (int, error) {
	if err := <-s.permit; err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes = append(s.writes, bytes.Clone(p))
	return len(p), nil
}

func (s *slowWriter) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

func noLimit(time.Time) error { return nil }

// TestFrameWriter checks the order of the bytes, and that requests are combined
// while an earlier write is in progress.
func TestFrameWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowWriter{permit: make(chan error)}
		f := newFrameWriter(s, s.Close)
		io.WriteString(f, "a")
		synctest.Wait() // the write of "a" is in progress
		for _, text := range []string{"b", "c", "d"} {
			if n, err := io.WriteString(f, text); n != 1 || err != nil {
				t.Errorf("%s: %d, %v", text, n, err)
			}
		}
		s.permit <- nil
		s.permit <- nil
		f.close(noLimit)
		if len(s.writes) != 2 || string(s.writes[0]) != "a" || string(s.writes[1]) != "bcd" {
			t.Errorf("writes %q", s.writes)
		}
		if _, err := io.WriteString(f, "e"); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("after close: %v", err)
		}
	})
}

// TestFrameWriterLimit checks that Write waits if many bytes are unwritten.
func TestFrameWriterLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowWriter{permit: make(chan error)}
		f := newFrameWriter(s, s.Close)
		written := 0
		go func() {
			for range 20 {
				f.Write(make([]byte, 16<<10))
				written++
			}
		}()
		synctest.Wait()
		if want := 2 * maxUnwritten >> 14; written > want {
			t.Errorf("%d frames of 16 KiB, want at most %d", written, want)
		}
		close(s.permit)
		synctest.Wait()
		f.close(noLimit)
		if all := bytes.Join(s.writes, nil); len(all) != 20*16<<10 {
			t.Errorf("%d bytes", len(all))
		}
	})
}

// TestFrameWriterFails checks the errors after a failed write. The connection
// is closed, unless the server has reset it.
func TestFrameWriterFails(t *testing.T) {
	for _, test := range []struct {
		err    error
		closed bool
	}{{io.ErrUnexpectedEOF, true}, {syscall.ECONNRESET, false}, {syscall.EPIPE, false}} {
		synctest.Test(t, func(t *testing.T) {
			s := &slowWriter{permit: make(chan error)}
			f := newFrameWriter(s, s.Close)
			io.WriteString(f, "a")
			synctest.Wait()
			waits := make(chan error)
			go func() {
				f.Write(make([]byte, maxUnwritten))
				_, err := f.Write([]byte("b")) // waits
				waits <- err
			}()
			synctest.Wait()
			s.permit <- test.err
			if err := <-waits; !errors.Is(err, test.err) {
				t.Errorf("waiting Write: %v, want %v", err, test.err)
			}
			if _, err := io.WriteString(f, "c"); !errors.Is(err, test.err) || !errors.Is(f.failed(), test.err) {
				t.Errorf("Write: %v, want %v", err, test.err)
			}
			<-f.done
			f.close(noLimit)
			if s.closed != test.closed {
				t.Errorf("%v: closed %v", test.err, s.closed)
			}
		})
	}
}

// TestFrameWriterClose checks that close sets a deadline only if it waits.
func TestFrameWriterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowWriter{permit: make(chan error)}
		f := newFrameWriter(s, s.Close)
		io.WriteString(f, "a")
		began := time.Now()
		f.close(func(deadline time.Time) error { // as a connection does
			time.AfterFunc(time.Until(deadline), func() { s.permit <- io.ErrUnexpectedEOF })
			return nil
		})
		if took := time.Since(began); took != flushTime {
			t.Errorf("close waited for %v, want %v", took, flushTime)
		}
		f.close(func(time.Time) error { t.Error("a second close waits"); return nil })
	})
}
