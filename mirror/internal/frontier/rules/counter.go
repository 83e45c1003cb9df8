// Package rules contains the rules of a frontier that do not depend on its
// database. Both engines apply them.
package rules

import "github.com/anyurl/fetch/mirror/internal/frontier"

// Names of the counters of a run. The counter of each error class has a name
// with the prefix ErrorCounter.
const (
	FilesCounter = "files"
	BytesCounter = "bytes"
	ErrorCounter = "error "
)

// Counters returns the amounts that the results add to the counters of a run,
// by counter name, and the sum of Result.Objects.
func Counters(rs []frontier.Result) (changes map[string]int64, objects int64) {
	changes = map[string]int64{}
	for i := range rs {
		r := &rs[i]
		objects += r.Objects
		if r.Counts.Files != 0 {
			changes[FilesCounter] += r.Counts.Files
		}
		if r.Counts.Bytes != 0 {
			changes[BytesCounter] += r.Counts.Bytes
		}
		if r.Error != "" {
			changes[ErrorCounter+r.Error]++
		}
	}
	return changes, objects
}
