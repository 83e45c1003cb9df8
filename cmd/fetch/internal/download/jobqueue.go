package download

import (
	"context"
	"io"
	"sync"

	"github.com/anyurl/fetch/cmd/fetch/internal/arguments"
	"github.com/anyurl/fetch/cmd/fetch/internal/ordered"
	"github.com/anyurl/fetch/internal/base/turn"
)

// A jobQueue creates one job for each URL, in order. Jobs are created on
// demand, so that a long list of URLs needs little memory. A jobQueue is safe
// for concurrent use.
type jobQueue struct {
	ctx    context.Context
	run    *Retrieval
	stream *ordered.Stream // standard output, or nil if one job runs at a time

	mu      sync.Mutex
	urls    arguments.Reader
	matches []arguments.Argument // files that matched the last wildcard and have no job yet
	number  int                  // number of jobs so far
	err     error                // io.EOF after the last URL
}

func newJobQueue(ctx context.Context, r *Retrieval, args []arguments.Argument, parallel bool) *jobQueue {
	q := &jobQueue{ctx: ctx, run: r, urls: arguments.Reader{Args: args, Name: r.flags.Input.File, Stdin: r.Stdin}}
	if parallel {
		q.stream = ordered.New(ctx, r.Stdout)
	}
	return q
}

// next returns the next job, or nil after the last job.
func (q *jobQueue) next() *Job {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err == nil && q.ctx.Err() != nil {
		q.err = context.Cause(q.ctx)
	}
	if q.err != nil {
		return nil
	}
	j := &Job{Retrieval: q.run, Output: q.run.Stdout}
	j.DefaultScheme = q.run.flags.Client.Policy.ProtoDefault
	j.ctx = context.WithValue(q.ctx, attemptsKey{}, &j.attempts)
	if j.Argument, q.err = q.nextArgument(); q.err != nil {
		return nil
	}
	limits := turn.Limits{Streams: q.run.flags.Input.ParallelMax, More: q.run.startMore}
	if q.stream != nil && q.run.flags.Body.ToStdout(j.Index) {
		j.slot = q.stream.Slot()
		j.Output = j.slot
		limits.Turn = j.slot.Turn()
	}
	j.ctx = turn.With(j.ctx, limits)
	return j
}

// NextArgument returns the next URL. It expands a URL that contains a wildcard
// to the matching files. If the directory cannot be listed, the result contains
// the error.
func (q *jobQueue) nextArgument() (a arguments.Argument, err error) {
	if len(q.matches) == 0 {
		if a, err = q.urls.Next(); err != nil {
			return a, err
		}
		if q.matches, err = q.run.expandWildcard(q.ctx, a); err != nil {
			a.Err, q.matches = err, nil
		}
	}
	if len(q.matches) > 0 {
		a, q.matches = q.matches[0], q.matches[1:]
	}
	a.Number = q.number
	q.number++
	return a, nil
}

// close closes the input file. It returns the error that ended the list of URLs
// early, or nil.
func (q *jobQueue) close() error {
	q.urls.Close()
	if q.err == io.EOF {
		return nil
	}
	return q.err
}
