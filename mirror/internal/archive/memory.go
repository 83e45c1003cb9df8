package archive

import "sync/atomic"

// A Memory limits the total number of bytes that an archive buffers in memory.
// All spools and batches share it. A Memory is safe for concurrent use.
type Memory struct{ used atomic.Int64 }

// maxMemory is the maximum number of bytes that can be reserved in a Memory.
const maxMemory = 24 << 20

// Reserve reserves n bytes and returns true. If the limit would be exceeded, it
// reserves no bytes and returns false.
func (m *Memory) Reserve(n int64) bool {
	if m.used.Add(n) > maxMemory {
		m.used.Add(-n)
		return false
	}
	return true
}

// Free releases n bytes that were reserved with Reserve.
func (m *Memory) Free(n int64) { m.used.Add(-n) }
