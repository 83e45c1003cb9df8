package gateway

import (
	"context"
	"sync/atomic"
)

// A computed holds a value that takes long to compute. One call at a time
// computes it, while other calls wait.
type computed[T any] struct {
	value   atomic.Pointer[T]
	running chan struct{} // has room for the call that computes the value
}

func newComputed[T any]() *computed[T] { return &computed[T]{running: make(chan struct{}, 1)} }

// get returns the value, which it computes with the given function in the first
// call. A later call repeats this after an error. A call that waits for another
// one returns an error as soon as ctx ends.
func (c *computed[T]) get(ctx context.Context, compute func(context.Context) (*T, error)) (*T, error) {
	if v := c.value.Load(); v != nil {
		return v, nil
	}
	select {
	case c.running <- struct{}{}:
		defer func() { <-c.running }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if v := c.value.Load(); v != nil {
		return v, nil
	}
	v, err := compute(ctx)
	if err != nil {
		return nil, err
	}
	c.value.Store(v)
	return v, nil
}
