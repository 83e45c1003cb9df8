// Package parallel calls a function for many items in several goroutines.
package parallel

import (
	"sync"
	"sync/atomic"
)

// Do calls do for each i from 0 to n-1, in up to the given number of goroutines.
// It returns after the last call. The calls begin in the order of i.
func Do(goroutines, n int, do func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	work := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			do(i)
		}
	}
	for range min(n, goroutines) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
}
