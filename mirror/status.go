package mirror

import (
	"context"
	"errors"
	"iter"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/frontier"
)

// Status counts what the archive at dir holds; another process may be at work
// on it.
func Status(ctx context.Context, dir string) (frontier.Stats, error) {
	a, err := existing(ctx, dir)
	if err != nil {
		return frontier.Stats{}, err
	}
	s, err := a.front.Stats(ctx)
	return s, errors.Join(fault(err), a.close())
}

// Dump yields the URLs of the archive at dir that are in one of these states,
// all where none is given, with the state. An error ends the sequence.
func Dump(ctx context.Context, dir string, of ...frontier.State) iter.Seq2[Line, error] {
	if len(of) == 0 {
		of = states
	}
	return func(yield func(Line, error) bool) {
		a, err := existing(ctx, dir)
		if err != nil {
			yield(Line{}, err)
			return
		}
		defer a.close()
		for _, s := range of {
			for it, err := range a.front.Items(ctx, s) {
				if err != nil {
					yield(Line{}, fault(err))
					return
				}
				if !yield(lineOf(it, s), nil) {
					return
				}
			}
		}
	}
}

// Idle calls f while no run, and nothing else that changes it, works on the
// archive at dir. It is fetch.InUse if something does. A folder whose lock
// cannot be opened, such as one on a medium that is read only, is idle.
func Idle(dir string, f func() error) error {
	a := &archive{}
	err := a.enter(dir)
	if err == nil {
		defer a.close()
		_, err = a.root.Stat(lockFile)
	}
	if err == nil && errors.Is(a.hold(dir), fetch.InUse) {
		return fetch.InUse.Errorf("%s is in use: fetch mirror, or another command, is running on it; try again when it has ended", dir)
	}
	return f()
}

// A Line is a URL of an archive, and what is known of it.
type Line struct {
	URL      string `json:"url"`
	State    string `json:"state"`
	Via      string `json:"via,omitempty"`
	Depth    int    `json:"depth"`
	Attempts int    `json:"attempts,omitempty"` // that failed in this run
	Media    string `json:"media,omitempty"`
	Size     int64  `json:"size,omitempty"`
	Path     string `json:"path,omitempty"` // below tree/
	WARC     string `json:"warc,omitempty"`
	Offset   int64  `json:"offset,omitempty"`
	Note     string `json:"note,omitempty"` // why, where it did not go well
}

func lineOf(it frontier.Item, s frontier.State) Line {
	l := Line{URL: it.URL, State: s.String(), Via: metaOf(it).From, Depth: it.Depth, Attempts: it.Attempts, Note: it.Note}
	if c := it.Last; c != nil {
		l.Media, l.Size, l.Path, l.WARC, l.Offset = c.Media, c.Size, c.Path, c.File, c.At
	}
	return l
}

// Requeue makes the URLs of the archive at dir that are in these states to be
// visited again. No other process may be at work on it.
func Requeue(ctx context.Context, dir string, of ...frontier.State) (n int64, err error) {
	err = exclusive(ctx, dir, func(a *archive) (err error) {
		n, err = a.front.Requeue(ctx, of...)
		return err
	})
	return n, err
}
