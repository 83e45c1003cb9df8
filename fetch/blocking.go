package fetch

import (
	"sync/atomic"
	"time"
)

// blockTime is the maximum time that a Read blocks its thread. The Go runtime
// takes the processor from a thread that blocks for 10 ms, even if no goroutine
// needs it. The thread then has to wait for a processor.
const blockTime = 5 * time.Millisecond

// soleTime is the time without concurrent reads after which a Read may block
// its thread.
const soleTime = 20 * time.Millisecond

// A blockingRead makes the reads of a conn block their thread.
type blockingRead struct {
	readers *readers
	full    bool // if true, the last read filled its buffer, so that more bytes are probably available
}

// readers counts the blocking reads of a Client that are in progress.
type readers struct {
	count      atomic.Int32
	concurrent atomic.Int64 // last time at which two reads were in progress, in Unix nanoseconds
}

// add registers a read. It reports whether no other read was in progress during
// soleTime.
func (r *readers) add() (sole bool) {
	now := time.Now().UnixNano()
	if r.count.Add(1) > 1 {
		r.concurrent.Store(now)
		return false
	}
	return now-r.concurrent.Load() > int64(soleTime)
}

func (r *readers) remove() { r.count.Add(-1) }

// SetBlockingReads implements [socket.Tuner].
func (c *conn) SetBlockingReads() {
	if c.socket != nil {
		c.blocking = &blockingRead{readers: c.readers}
	}
}

// read reads from c.
func (b *blockingRead) read(c *conn, p []byte) (int, error) {
	sole := b.readers.add()
	defer b.readers.remove()
	if sole && !b.full {
		c.socket.wait()
	}
	n, err := c.Conn.Read(p)
	b.full = n == len(p)
	return n, err
}
