package archive

import (
	"iter"
	"os"
)

// Visits returns the lines of the journal of the archive in the directory dir,
// without their checksums. It skips damaged lines. Each line is valid only until
// the next iteration. A non-nil error ends the sequence.
func Visits(dir string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		root, err := os.OpenRoot(dir)
		if err != nil {
			yield(nil, Classify(err))
			return
		}
		defer root.Close()
		for line, err := range storedLines(root) {
			if line == nil && err == nil {
				continue
			}
			if !yield(line, Classify(err)) || err != nil {
				return
			}
		}
	}
}
