package mirror

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/archive"
	"github.com/anyurl/fetch/internal/frontier"
)

// A State is where a URL stands in the run that visited it last.
type State string

// The states of a URL.
const (
	Pending  State = "pending"  // not visited yet, or to be visited again by this run or the next one
	Done     State = "done"     // retrieved, or unchanged
	Kept     State = "kept"     // retrieved, and never requested again, such as a message
	Gone     State = "gone"     // retrieved by an earlier run, and deleted on the server since
	Dead     State = "dead"     // failed permanently
	Excluded State = "excluded" // found, and not wanted: out of scope, refused, of another type or size
)

// statesOf returns what the frontier calls these states.
func statesOf(of []State) (all []frontier.State, err error) {
	for _, name := range of {
		s, ok := frontier.ParseState(string(name))
		if !ok {
			return nil, fetch.Usage.Errorf("no state %q: it is pending, done, kept, gone, dead or excluded", name)
		}
		all = append(all, s)
	}
	return all, nil
}

// Stats counts what an archive holds.
type Stats struct {
	Run       int64           `json:"run"` // the newest, from 1
	Started   time.Time       `json:"started,omitzero"`
	Ended     time.Time       `json:"ended,omitzero"`      // zero: it is running, or was stopped
	URLs      int64           `json:"urls"`                // of all runs
	States    map[State]int64 `json:"states"`              // of the URLs that this run has found, and all that are pending
	Earlier   int64           `json:"earlier"`             // URLs of earlier runs that this run has not found
	Unreached int64           `json:"unreached,omitempty"` // those of the pending URLs whose servers could not be reached
	Hosts     int64           `json:"hosts"`               // with pending URLs
	Captures  int64           `json:"captures"`            // objects retrieved by all runs, each version of an object
	Bytes     int64           `json:"bytes"`               // of their contents
	Next      time.Time       `json:"next,omitzero"`       // when the first of the hosts that are left alone gets a request again
}

// Status counts what the archive at dir holds; another process may be at work
// on it.
func Status(ctx context.Context, dir string) (s Stats, err error) {
	err = archive.Read(ctx, dir, func(f frontier.Frontier) error {
		counted, err := f.Stats(ctx)
		s = statsOf(counted)
		return err
	})
	return s, err
}

func statsOf(f frontier.Stats) Stats {
	s := Stats{
		Run: f.Run, Started: f.Started, Ended: f.Ended, Next: f.NextDue, URLs: f.URLs, Earlier: f.URLs, Unreached: f.Parked,
		Hosts: f.Hosts, Captures: f.Captures, Bytes: f.Bytes, States: map[State]int64{},
	}
	for state, n := range f.States {
		s.States[State(state.String())] = n
		s.Earlier -= n
	}
	return s
}

// Dump yields the URLs of the archive at dir that are in one of these states,
// all where none is given, with the state. An error ends the sequence.
func Dump(ctx context.Context, dir string, of ...State) iter.Seq2[Line, error] {
	if len(of) == 0 {
		of = []State{Done, Kept, Pending, Dead, Excluded, Gone}
	}
	return func(yield func(Line, error) bool) {
		states, err := statesOf(of)
		if err == nil {
			err = archive.Read(ctx, dir, func(f frontier.Frontier) error { return dump(ctx, f, states, yield) })
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(Line{}, err)
		}
	}
}

// errEnough says that the caller wants no further lines.
var errStopped = errors.New("enough")

func dump(ctx context.Context, f frontier.Frontier, states []frontier.State, yield func(Line, error) bool) error {
	for _, s := range states {
		for it, err := range f.Items(ctx, s) {
			if err != nil {
				return err
			}
			if !yield(lineOf(it, s), nil) {
				return errStopped
			}
		}
	}
	return nil
}

// A Line is a URL of an archive, and what is known of it.
type Line struct {
	URL      string `json:"url"`
	State    State  `json:"state"`
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
	l := Line{URL: it.URL, State: State(s.String()), Via: metaOf(it).From, Depth: it.Depth, Attempts: it.Attempts, Note: it.Note}
	if c := it.LastCapture; c != nil {
		l.Media, l.Size, l.Path, l.WARC, l.Offset = c.Media, c.Size, c.Path, c.File, c.Offset
	}
	return l
}

// Requeue makes the URLs of the archive at dir that are in these states to be
// visited again. No other process may be at work on it.
func Requeue(ctx context.Context, dir string, of ...State) (n int64, err error) {
	states, err := statesOf(of)
	if err != nil {
		return 0, err
	}
	err = archive.Change(ctx, dir, func(f frontier.Frontier) (err error) {
		n, err = f.Requeue(ctx, states...)
		return err
	})
	return n, err
}
