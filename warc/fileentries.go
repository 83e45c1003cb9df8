package warc

import (
	"archive/zip"
	"fmt"
	"iter"
	"os"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// FileEntries returns the entries of the WARC or WACZ file with the given name,
// as [Entries] does. The iterator opens the file and closes it at the end. For
// a WACZ file, the entries of the WARC files in its directory "archive" follow
// one after another.
func FileEntries(name string) iter.Seq2[fetch.Entry, error] {
	return func(yield func(fetch.Entry, error) bool) {
		if strings.HasSuffix(name, ".wacz") {
			packageEntries(name, yield)
			return
		}
		f, err := os.Open(name)
		if err != nil {
			yield(fetch.Entry{}, fetch.Local.With(err))
			return
		}
		defer f.Close()
		Entries(f)(yield)
	}
}

// packageEntries calls yield for each entry of the WACZ file with the given
// name.
func packageEntries(name string, yield func(fetch.Entry, error) bool) {
	z, err := openPackage(name)
	if err != nil {
		yield(fetch.Entry{}, fetch.LocalError(fmt.Errorf("%s: %w", name, err)))
		return
	}
	defer z.Close()
	for _, part := range z.File {
		if _, ok := warcPart(part); ok && !partEntries(part, yield) {
			return
		}
	}
}

// partEntries calls yield for each entry of a WARC file in a WACZ file. It
// reports whether the caller may continue with the next part.
func partEntries(part *zip.File, yield func(fetch.Entry, error) bool) bool {
	f, err := part.Open()
	if err != nil {
		return yield(fetch.Entry{}, fetch.Mismatch.Errorf("part %q: %w", part.Name, err))
	}
	defer f.Close()
	for e, err := range Entries(f) {
		if !yield(e, err) {
			return false
		}
	}
	return true
}
