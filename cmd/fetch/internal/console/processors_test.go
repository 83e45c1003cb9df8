package console

import (
	"runtime"
	"testing"
)

// TestMoreThreads checks the number of threads during a task and after it. It is
// not parallel, because the number belongs to the process.
func TestMoreThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	for _, c := range []struct {
		environment    string
		before, n, set int
	}{
		{"", 1, 4, 2}, {"", 2, 4, 4}, {"", 3, 4, 4}, {"", 8, 4, 8}, {"2", 2, 4, 2},
	} {
		t.Setenv("GOMAXPROCS", c.environment)
		runtime.GOMAXPROCS(c.before)
		restore := MoreThreads(c.n)
		if got := runtime.GOMAXPROCS(0); got != c.set {
			t.Errorf("%+v: %d threads", c, got)
		}
		restore()
		if got := runtime.GOMAXPROCS(0); got != c.before {
			t.Errorf("%+v: %d threads afterwards", c, got)
		}
	}
}
