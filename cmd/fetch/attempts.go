package main

import (
	"context"
	"sync/atomic"

	"github.com/anyurl/fetch/wrap"
)

// An attemptCounter counts the requests for one URL, including retries. It is
// stored in the context of the job, where countAttempt finds it.
type attemptCounter struct {
	retries atomic.Int64
	before  int // requests before the current call of Client.Do
}

// attemptsKey is the context key for an *attemptCounter.
type attemptsKey struct{}

// countAttempt records that the failed attempt t will be retried. It returns
// the number of requests for the URL so far.
func countAttempt(ctx context.Context, t wrap.Attempt) (requests int) {
	n, ok := ctx.Value(attemptsKey{}).(*attemptCounter)
	if !ok {
		return t.Count
	}
	n.retries.Add(1)
	return n.before + t.Count
}
