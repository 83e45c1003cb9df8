package mail

import (
	"bytes"
	"io"
	"iter"
	"sync"
)

// pulled reads what a sequence yields. It may be closed while it is read, which
// ends what the sequence waits for.
type pulled struct {
	cancel func()

	mu   sync.Mutex
	next func() ([]byte, error, bool)
	stop func()
	rest bytes.Reader
	err  error
}

// newPulled begins seq, so that what keeps it from beginning is told at once.
func newPulled(cancel func(), seq iter.Seq2[[]byte, error]) (io.ReadCloser, error) {
	p := &pulled{cancel: cancel}
	p.next, p.stop = iter.Pull2(seq)
	if p.pull(); p.err != nil && p.err != io.EOF {
		err := p.err
		p.Close()
		return nil, err
	}
	return p, nil
}

// pull takes the next piece.
func (p *pulled) pull() {
	chunk, err, more := p.next()
	if p.rest.Reset(chunk); !more {
		err = io.EOF
	}
	p.err = err
}

func (p *pulled) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.rest.Len() == 0 && p.err == nil {
		p.pull()
	}
	if p.rest.Len() > 0 {
		return p.rest.Read(b)
	}
	return 0, p.err
}

func (p *pulled) Close() error {
	p.cancel()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = errClosed
	}
	p.rest.Reset(nil)
	p.stop()
	return nil
}
