package postgres

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Time limits of calls while the server does not respond.
const (
	// silentTime is the time limit of a transaction that shares the crawl.
	silentTime = 30 * time.Second

	// Other calls may run for hours, for example when they wait for the lock of
	// the crawl. During such a call, a new connection checks the server at each
	// checkInterval. After maxSilent failed checks, the call ends.
	checkInterval = 10 * time.Second
	maxSilent     = 2

	// graceTime is the time in which a transaction that has started can complete
	// after the cancellation of its call.
	graceTime = 500 * time.Millisecond
)

// errSilent means that the server did not respond for too long. It is an outage.
var errSilent = errors.New("the database does not respond")

// brief calls f with a context that ends after silentTime.
func brief(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, silentTime, errSilent)
	defer cancel()
	return withCause(ctx, f(ctx))
}

// patient calls f with a context that ends when the server does not respond to
// new connections.
func (e *engine) patient(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var checks sync.WaitGroup
	checks.Go(func() {
		if e.checkServer(ctx) {
			cancel(errSilent)
		}
	})
	defer func() { cancel(nil); checks.Wait() }()
	return withCause(ctx, f(ctx))
}

// checkServer checks the server regularly until ctx ends. It returns true if the
// server did not respond to maxSilent checks in a row.
func (e *engine) checkServer(ctx context.Context) (silent bool) {
	check := time.NewTicker(checkInterval)
	defer check.Stop()
	for failed := 0; failed < maxSilent; {
		select {
		case <-check.C:
		case <-ctx.Done():
			return false
		}
		if failed++; e.responds(ctx) {
			failed = 0
		}
	}
	return ctx.Err() == nil
}

// withCause returns err, which wraps errSilent if this is why ctx has ended.
func withCause(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errSilent) && !errors.Is(err, errSilent) {
		return errors.Join(errSilent, err)
	}
	return err
}

// lasting returns a context that ends graceTime after ctx.
func lasting(ctx context.Context) (context.Context, func()) {
	last, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	remove := context.AfterFunc(ctx, func() {
		time.AfterFunc(graceTime, func() { cancel(context.Cause(ctx)) })
	})
	return last, func() { remove(); cancel(nil) }
}
