package archive

import "sync/atomic"

// Memory limits the total number of bytes that the spools and batches of an
// archive hold in memory. It is safe for concurrent use.
type Memory struct{ used atomic.Int64 }

// maxMemory is the total limit of a Memory, in bytes.
const maxMemory = 24 << 20

// Reserve reserves n bytes. It returns false, and reserves no bytes, if the
// total would exceed the limit.
func (m *Memory) Reserve(n int64) bool {
	if m.used.Add(n) > maxMemory {
		m.used.Add(-n)
		return false
	}
	return true
}

// Free releases n reserved bytes.
func (m *Memory) Free(n int64) { m.used.Add(-n) }
