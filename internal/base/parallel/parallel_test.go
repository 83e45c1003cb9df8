package parallel

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestDo(t *testing.T) {
	for _, test := range []struct {
		name          string
		goroutines, n int
		want          time.Duration // if each call takes a second
	}{
		{"nothing", 4, 0, 0},
		{"one at a time", 1, 3, 3 * time.Second},
		{"no goroutines", 0, 3, 3 * time.Second},
		{"all at once", 9, 3, time.Second},
		{"two at a time", 2, 5, 3 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			calls := make([]atomic.Int32, test.n)
			Do(test.goroutines, test.n, func(i int) { time.Sleep(time.Second); calls[i].Add(1) })
			if took := time.Since(began); took != test.want {
				t.Errorf("%s: %v, want %v", test.name, took, test.want)
			}
			for i := range calls {
				if n := calls[i].Load(); n != 1 {
					t.Errorf("%s: %d calls for %d", test.name, n, i)
				}
			}
		})
	}
}
