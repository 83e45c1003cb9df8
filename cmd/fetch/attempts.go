package main

import (
	"context"
	"sync/atomic"

	"github.com/anyurl/fetch/wrap"
)

// An attemptCounter counts the requests for an object. The Retry middleware
// finds the counter in the context and adds its retries.
type attemptCounter struct {
	retries atomic.Int64
	before  int // requests before the current call of Client.Do
}

// attemptsKey is the context key of the *attemptCounter.
type attemptsKey struct{}

// countAttempt counts the retry that follows t and returns the number of
// requests before the retry.
func countAttempt(ctx context.Context, t wrap.Attempt) (requests int) {
	n, ok := ctx.Value(attemptsKey{}).(*attemptCounter)
	if !ok {
		return t.Count
	}
	n.retries.Add(1)
	return n.before + t.Count
}
