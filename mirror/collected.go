package mirror

import "time"

// claimSize is the maximum number of items in a claim. A batch is committed
// when its visits reach the number batchSize, the size batchBytes or the age
// batchAge.
const (
	claimSize  = 512
	batchSize  = 256
	batchBytes = 16 << 20
	batchAge   = 100 * time.Millisecond
)

// maxCollected is the number of collected visits at which the connections wait
// for the running batch. It exceeds batchSize, so that they rarely wait.
const maxCollected = 3 * batchSize

// Links are stored in small batches, so that the connections need not wait for
// the links of many pages. A batch starts when the collected visits have found
// maxLinks links, or minLinks if the queue is short. Each batch ends with the
// visit that reaches maxLinks. If the queue is long, no connection waits for
// links, and the limit is maxManyLinks. A link costs less in a large
// transaction, because the keys of a large frontier are in many pages of the
// database.
const (
	minLinks     = claimSize / 4
	maxLinks     = 2 * claimSize
	maxManyLinks = 32 * claimSize
)

// collectedVisits contains the completed visits of a host that the next batches
// commit. It is guarded by hostWorker.mu.
type collectedVisits struct {
	visits []*visit
	bytes  int64       // total size of visits
	links  int         // number of links that visits found
	old    bool        // if true, the oldest visit has reached the age batchAge
	scarce bool        // if true, no memory is left for the heads of the visits
	timer  *time.Timer // calls hostWorker.flushVisits

	// blocked is the end of the pause of the host that the next batch stores, or
	// zero. It is not stored before, because hostWorker.mu must not be held while
	// the database does not respond.
	blocked time.Time
}

func (c *collectedVisits) add(v *visit) {
	if len(c.visits) == 0 {
		c.timer.Reset(batchAge)
		c.old = false
	}
	c.visits = append(c.visits, v)
	c.scarce = c.scarce || !v.reserveHeads()
	c.bytes += v.heldBytes()
	c.links += len(v.children)
}

// take removes and returns the first n visits. With them, it removes the end of the
// pause.
func (c *collectedVisits) take(n int) (first []*visit, blocked time.Time) {
	if n == 0 {
		return nil, time.Time{}
	}
	first, blocked = c.visits[:n:n], c.blocked
	c.blocked = time.Time{}
	for _, v := range first {
		c.bytes -= v.heldBytes()
		c.links -= len(v.children)
	}
	if c.visits = c.visits[n:]; len(c.visits) == 0 {
		c.visits, c.old, c.scarce = nil, false, false
	}
	return first, blocked
}

// full reports whether the visits are enough for a batch.
func (c *collectedVisits) full() bool {
	return len(c.visits) >= batchSize || c.bytes >= batchBytes || c.scarce
}

// overfull reports whether no further visit may start, because the visits wait
// for the running batch.
func (c *collectedVisits) overfull() bool {
	return len(c.visits) >= maxCollected || c.bytes >= batchBytes || c.scarce
}

// batchLength returns the number of visits for the next batch, which is at most
// batchSize. The batch ends with the visit that reaches the limit of links.
func (c *collectedVisits) batchLength(limit int) int {
	links := 0
	for i, v := range c.visits {
		if links += len(v.children); links >= limit || i+1 == batchSize {
			return i + 1
		}
	}
	return len(c.visits)
}
