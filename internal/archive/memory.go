package archive

import "sync/atomic"

// Memory counts the bytes that the spools of an archive, and whatever else a
// run keeps in memory for a batch, may take together. More goes to the disk.
type Memory struct{ used atomic.Int64 }

// maxMemory is independent of the number of hosts and of the speed of the disk.
const maxMemory = 24 << 20

// Reserve takes n bytes. It reports false if so many are not left.
func (m *Memory) Reserve(n int64) bool {
	if m.used.Add(n) > maxMemory {
		m.used.Add(-n)
		return false
	}
	return true
}

// Free gives n reserved bytes back.
func (m *Memory) Free(n int64) { m.used.Add(-n) }
