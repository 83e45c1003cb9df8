package download

import (
	"runtime"
	"sync"

	"github.com/anyurl/fetch/fetch"
)

// A processorLimit limits the process to one processor while it retrieves small
// objects in parallel. Their requests consist of system calls. On several
// processors, the Go runtime wakes a thread for most responses, which takes a
// quarter more processor time. The zero value does nothing.
type processorLimit struct {
	before int // GOMAXPROCS before the limit, or 0 without a limit
	lift   sync.Once
}

// smallBody is the maximum size of a body in bytes for which one processor is
// enough. Larger bodies may be encrypted, compressed or hashed.
const smallBody = 1 << 20

func (l *processorLimit) set() { l.before = runtime.GOMAXPROCS(1) }

// observe removes the limit if the body of resp may be large.
func (l *processorLimit) observe(resp *fetch.Response) {
	if l.before > 0 && (resp.Size < 0 || resp.Size > smallBody) {
		l.remove()
	}
}

// remove restores the number of processors.
func (l *processorLimit) remove() {
	if l.before > 0 {
		l.lift.Do(func() { runtime.GOMAXPROCS(l.before) })
	}
}
