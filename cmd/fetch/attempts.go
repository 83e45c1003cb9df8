package main

import (
	"context"
	"sync/atomic"

	"github.com/anyurl/fetch/wrap"
)

// An attempts counts the requests for an object. The Retry middleware finds the
// attempts in the context and counts its retries.
type attempts struct {
	retries atomic.Int64
	before  int // requests before the current call of Client.Do
}

type attemptsKey struct{}

// countAttempt counts the retry that follows t and returns the number of
// requests before the retry.
func countAttempt(ctx context.Context, t wrap.Attempt) (made int) {
	n, ok := ctx.Value(attemptsKey{}).(*attempts)
	if !ok {
		return t.Count
	}
	n.retries.Add(1)
	return n.before + t.Count
}
