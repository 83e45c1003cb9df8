package download

import (
	"context"
	"sync/atomic"
)

// An attemptCounter counts the requests for one URL. It is stored in the context
// of the job, where countRetry finds it.
type attemptCounter struct {
	calls   atomic.Int64 // calls of Client.Do, including the calls for restarted transfers
	retries atomic.Int64 // requests that were sent again within these calls
}

// requests returns the number of requests for the URL so far, not counting
// redirects.
func (n *attemptCounter) requests() int { return int(n.calls.Load() + n.retries.Load()) }

// attemptsKey is the context key for an *attemptCounter.
type attemptsKey struct{}

// countRetry records that a request will be sent again. It returns the number
// of the next attempt. The number is counted+1 if ctx has no attemptCounter.
func countRetry(ctx context.Context, counted int) (next int) {
	n, ok := ctx.Value(attemptsKey{}).(*attemptCounter)
	if !ok {
		return counted + 1
	}
	n.retries.Add(1)
	return n.requests()
}
