package mail

import (
	"bytes"
	"context"
	"io"
	"iter"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// firstTime is the maximum time until the first slice. The Client limits only the
// time of the other ones.
const firstTime = 5 * time.Minute

// A sequenceReader is an io.ReadCloser over the slices that an iterator yields.
// Close may be called concurrently with Read. It cancels a pending Read.
type sequenceReader struct {
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	next  func() ([]byte, error, bool)
	stop  func()
	chunk bytes.Reader
	err   error
}

// newSequenceReader reads the first slice of seq and returns a reader for all
// slices. If the iterator fails before the first slice, newSequenceReader
// returns the error. The iterator must end soon after a call of cancel, which
// cancels ctx.
func newSequenceReader(ctx context.Context, cancel context.CancelCauseFunc, seq iter.Seq2[[]byte, error]) (io.ReadCloser, error) {
	p := &sequenceReader{cancel: cancel}
	p.next, p.stop = iter.Pull2(seq)
	limit := time.AfterFunc(firstTime, func() { cancel(fetch.Timeout.Errorf("no message within %v", firstTime)) })
	p.pull()
	limit.Stop()
	if p.err != nil && p.err != io.EOF {
		err := p.err
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		p.Close()
		return nil, err
	}
	return p, nil
}

// pull reads the next slice.
func (p *sequenceReader) pull() {
	chunk, err, more := p.next()
	if p.chunk.Reset(chunk); !more {
		err = io.EOF
	}
	p.err = err
}

func (p *sequenceReader) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.chunk.Len() == 0 && p.err == nil {
		p.pull()
	}
	if p.chunk.Len() > 0 {
		return p.chunk.Read(b)
	}
	return 0, p.err
}

func (p *sequenceReader) Close() error {
	p.cancel(nil)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = errClosed
	}
	p.chunk.Reset(nil)
	p.stop()
	return nil
}
