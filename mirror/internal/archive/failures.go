package archive

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/uri"
)

// Failures contains the URLs that failed in a run.
type Failures struct {
	New      int64 // number of failed URLs that did not fail in the previous run
	Unlisted int64 // number of failed URLs that cannot be written to failed.txt

	a    *Archive
	urls []string
}

// Failures returns the URLs that failed in a run, including URLs that are
// pending after the run. It compares them with the file failed.txt of the
// previous run.
func (a *Archive) Failures(ctx context.Context, run int64) (f Failures, err error) {
	f.a = a
	stats, err := a.frontier.Stats(ctx)
	if err != nil || stats.States[frontier.Dead]+stats.Postponed == 0 {
		return f, err
	}
	before, err := a.previousFailures()
	if err != nil {
		return f, err
	}
	for _, s := range []frontier.State{frontier.Dead, frontier.Pending} {
		for it, err := range a.frontier.Items(ctx, s) {
			if err != nil {
				return f, err
			}
			if it.Run != run {
				continue // the URL failed in an earlier run
			}
			if !isListable(it.URL) {
				f.Unlisted++
				continue
			}
			f.urls = append(f.urls, it.URL)
			if !before[frontier.KeyOf(it.URL)] {
				f.New++
			}
		}
	}
	return f, nil
}

// isListable reports whether text is a URL that can be written to failed.txt.
// The database may come from an untrusted source. A URL contains no spaces and no
// control characters.
func isListable(text string) bool {
	u, err := uri.Parse(text)
	return err == nil && len(text) < maxLineLength && Canonical(u) == text
}

// maxLineLength is the maximum length of a line in failed.txt, in bytes.
const maxLineLength = 16 << 10

// previousFailures returns the keys of the URLs listed in failed.txt.
func (a *Archive) previousFailures() (map[frontier.Key]bool, error) {
	file, err := regularfile.OpenIn(a.folder.root, failedFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	before := map[frontier.Key]bool{}
	lines := bufio.NewScanner(file)
	for lines.Buffer(nil, maxLineLength); lines.Scan(); {
		before[frontier.KeyOf(lines.Text())] = true
	}
	return before, lines.Err()
}

// Write writes the URLs to failed.txt, or removes the file if no URL failed. It
// must be called after the end of the run. If the process is killed earlier,
// the next run compares its failures with the old file.
func (f Failures) Write() error {
	root := f.a.folder.root
	if len(f.urls) == 0 {
		if err := root.Remove(failedFile); !errors.Is(err, fs.ErrNotExist) {
			return Classify(err)
		}
		return nil
	}
	return Classify(replaceFile(root, failedFile, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, strings.Join(f.urls, "\n"))
		return err
	}))
}
