// Package turn has values of a context for requests that wait for each other:
// limits of programs that send many requests at the same time and use their
// bodies in order, and the pause between requests to a host. The middleware
// Polite of package wrap reads the limits and determines the pause.
package turn

import "context"

// Limits describes the place of a request among others.
type Limits struct {
	// Streams is the maximum number of concurrent requests to a server that
	// responded with HTTP/2 or HTTP/3, because these requests share a connection. It
	// replaces PoliteOptions.PerHost if it is larger. All requests to a host have
	// the same value.
	Streams int

	// When the channel Turn is closed, the request no longer waits for other
	// requests to its host. This prevents deadlocks if the program reads one body
	// to the end before it continues with other bodies. Turn may be nil.
	Turn <-chan struct{}

	// More, if not nil, is called when a server accepts more concurrent requests
	// than before.
	More func()
}

// Accepted calls l.More.
func (l Limits) Accepted() {
	if l.More != nil {
		l.More()
	}
}

type key struct{}

// With returns a context with limits for a request.
func With(ctx context.Context, l Limits) context.Context { return context.WithValue(ctx, key{}, l) }

// Of returns the limits in a context, or the zero Limits.
func Of(ctx context.Context) Limits {
	l, _ := ctx.Value(key{}).(Limits)
	return l
}

type pauseKey struct{}

// WithPause returns a context in which [Pause] calls pause.
func WithPause(ctx context.Context, pause func(context.Context)) context.Context {
	return context.WithValue(ctx, pauseKey{}, pause)
}

// Pause waits until the minimum time since the previous request to the host has
// passed, or until ctx is done. A driver calls it after a request has waited for
// another request to the same server, and before it sends the request. Without
// Pause, requests that waited at the same time would follow each other at once.
func Pause(ctx context.Context) {
	if pause, ok := ctx.Value(pauseKey{}).(func(context.Context)); ok {
		pause(ctx)
	}
}
