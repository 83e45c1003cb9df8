package gateway

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// TestComputed checks that a call does not wait for the computation of another
// call longer than its context permits.
func TestComputed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newComputed[int]()
		proceed := make(chan error)
		calls := 0
		compute := func(context.Context) (*int, error) {
			calls++
			return &calls, <-proceed
		}
		results := make(chan error, 3)
		get := func(ctx context.Context) {
			go func() {
				v, err := c.get(ctx, compute)
				if err == nil && *v != 2 {
					err = errors.New("another value")
				}
				results <- err
			}()
			synctest.Wait()
		}
		get(t.Context())
		left, cancel := context.WithCancel(t.Context())
		get(left)
		cancel()
		if err := <-results; !errors.Is(err, context.Canceled) {
			t.Errorf("waiting call: %v", err)
		}
		get(t.Context())
		failure := errors.New("damaged")
		proceed <- failure
		if err := <-results; err != failure {
			t.Errorf("first call: %v", err)
		}
		proceed <- nil
		if err := <-results; err != nil {
			t.Errorf("second computation: %v", err)
		}
		get(t.Context())
		if err := <-results; err != nil || calls != 2 {
			t.Errorf("stored value: %v after %d computations", err, calls)
		}
	})
}
