package archive

import (
	"errors"
	"io/fs"
	"iter"
	"os"

	"github.com/anyurl/fetch/internal/base/regularfile"
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
		f, err := regularfile.OpenIn(root, journalFile)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(nil, Classify(err))
			return
		}
		defer f.Close()
		for line, err := range journalLines(f) {
			if line == nil && err == nil {
				continue
			}
			if !yield(line, Classify(err)) || err != nil {
				return
			}
		}
	}
}
