package mirror

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/anyurl/fetch/internal/frontier"
)

// failedFile lists the URLs that failed in the newest run that ended, one a
// line. The next run compares its own with it.
const failedFile = "failed.txt"

// failures are the URLs that failed in this run, by whichever process.
type failures struct {
	urls  []string
	fresh int64 // that did not fail in the run before
}

// failures finds them. The run is over, so that what is pending is parked.
func (m *mirror) failures(ctx context.Context) (f failures, err error) {
	stats, err := m.front.Stats(ctx)
	if err != nil || stats.States[frontier.Dead]+stats.Parked == 0 {
		return f, err
	}
	before, err := m.failedBefore()
	if err != nil {
		return f, err
	}
	for _, s := range []frontier.State{frontier.Dead, frontier.Pending} {
		for it, err := range m.front.Items(ctx, s) {
			if err != nil {
				return f, err
			}
			if it.Run != m.total.Run {
				continue // no run has seen it since
			}
			f.urls = append(f.urls, it.URL)
			if !before[it.Key] {
				f.fresh++
			}
		}
	}
	return f, nil
}

// failedBefore reads the list of the run before.
func (m *mirror) failedBefore() (map[frontier.Key]bool, error) {
	file, err := m.root.Open(failedFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	before := map[frontier.Key]bool{}
	lines := bufio.NewScanner(file)
	for lines.Buffer(nil, 2*maxURL); lines.Scan(); {
		before[frontier.KeyOf(lines.Text())] = true
	}
	return before, lines.Err()
}

// write replaces the list.
func (f failures) write(m *mirror) error {
	if len(f.urls) == 0 {
		if err := m.root.Remove(failedFile); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return whole(m.root, failedFile, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, strings.Join(f.urls, "\n"))
		return err
	})
}
