package mirror

import "sync/atomic"

// budget is the memory that all visits together may take, in bytes: what goes
// beyond it goes to disk.
type budget struct{ used atomic.Int64 }

// maxHeld bounds what is held in memory, however many hosts are asked and
// however slow the disk is.
const maxHeld = 24 << 20

// take reserves n bytes, or reports that there are not as many.
func (b *budget) take(n int64) bool {
	if b.used.Add(n) > maxHeld {
		b.used.Add(-n)
		return false
	}
	return true
}

func (b *budget) give(n int64) { b.used.Add(-n) }
