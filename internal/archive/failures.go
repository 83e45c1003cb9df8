package archive

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/internal/regularfile"
	"github.com/anyurl/fetch/uri"
)

// Failures are the URLs that failed in a run, by whichever process.
type Failures struct {
	New int64 // that did not fail in the run before
	Odd int64 // items that are no URL on one line, and not in failed.txt

	a    *Archive
	urls []string
}

// Failures finds the URLs that failed in a run, whose pending URLs are parked.
// It compares them with failed.txt, which has those of the run before.
func (a *Archive) Failures(ctx context.Context, run int64) (f Failures, err error) {
	f.a = a
	stats, err := a.frontier.Stats(ctx)
	if err != nil || stats.States[frontier.Dead]+stats.Parked == 0 {
		return f, err
	}
	before, err := a.failedBefore()
	if err != nil {
		return f, err
	}
	for _, s := range []frontier.State{frontier.Dead, frontier.Pending} {
		for it, err := range a.frontier.Items(ctx, s) {
			if err != nil {
				return f, err
			}
			if it.Run != run {
				continue // no run has seen it since
			}
			if !isLine(it.URL) {
				f.Odd++
				continue
			}
			f.urls = append(f.urls, it.URL)
			if !before[it.Key] {
				f.New++
			}
		}
	}
	return f, nil
}

// isLine reports whether text, of a database that may come from a stranger, is
// a URL that failed.txt can contain.
func isLine(text string) bool {
	u, err := uri.Parse(text)
	return err == nil && len(text) < maxLine && Canonical(u) == text &&
		strings.IndexFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }) < 0
}

// maxLine bounds a line of failed.txt, in bytes.
const maxLine = 16 << 10

// failedBefore reads the list of the run before.
func (a *Archive) failedBefore() (map[frontier.Key]bool, error) {
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
	for lines.Buffer(nil, maxLine); lines.Scan(); {
		before[frontier.KeyOf(lines.Text())] = true
	}
	return before, lines.Err()
}

// Write replaces failed.txt. It does so after the end of the run, so that a run
// which is killed between compares with the one before.
func (f Failures) Write() error {
	root := f.a.folder.root
	if len(f.urls) == 0 {
		if err := root.Remove(failedFile); !errors.Is(err, fs.ErrNotExist) {
			return Fault(err)
		}
		return nil
	}
	return Fault(replace(root, failedFile, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, strings.Join(f.urls, "\n"))
		return err
	}))
}
