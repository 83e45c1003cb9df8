package fetch

import (
	"net"
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

// SetBlockingReads makes each Read of c block its thread for up to 5 ms before
// the Read waits in the network poller of the Go runtime. A Read does this only
// if no other such Read of the Client was in progress during the last 20 ms.
// Requests on a single connection then take less processor time, because the
// runtime does not stop and start its threads for each reply.
//
// SetBlockingReads must be called before the first Read. It is unsuitable for a
// connection that is always being read, such as a connection of HTTP/2. It has
// no effect if c was not opened by a Net, or if the operating system does not
// support it.
func SetBlockingReads(c net.Conn) {
	if own := connOf(c); own != nil && own.socket != nil {
		own.blocking = &blockingRead{readers: own.readers}
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
