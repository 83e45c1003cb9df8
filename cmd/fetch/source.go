package main

import (
	"context"
	"io"
	"sync"
)

// source makes a job of every URL, in order, whenever somebody is free for it:
// it holds no more of them than are under way, however long the list. It is
// safe for concurrent use.
type source struct {
	*batch
	queue *ordered // of what goes to standard output side by side; nil: one after the other

	mu    sync.Mutex
	urls  urls
	index int   // of the next job
	err   error // why there is no next one
}

// next returns nil where no job is left.
func (s *source) next() *job {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil && s.ctx.Err() != nil {
		s.err = context.Cause(s.ctx)
	}
	if s.err != nil {
		return nil
	}
	j := &job{app: s.app, client: s.client, index: s.index, stdout: s.app.stdout}
	j.ctx = context.WithValue(s.ctx, attemptsKey{}, &j.tries)
	if j.text, j.line, s.err = s.urls.next(); s.err != nil {
		return nil
	}
	if s.queue != nil && s.flags.toStdout(j.index) {
		j.stdout = s.queue.slot()
	}
	s.index++
	return j
}

// close returns why not every URL became a job.
func (s *source) close() error {
	s.urls.close()
	if s.err == io.EOF {
		return nil
	}
	return s.err
}
