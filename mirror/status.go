package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// A State is the state of a URL in the last run that visited the URL.
type State string

// The states of a URL.
const (
	Pending  State = "pending"  // to be visited by this run or the next run
	Done     State = "done"     // retrieved or unchanged
	Kept     State = "kept"     // retrieved and never requested again, such as a news article
	Gone     State = "gone"     // retrieved by an earlier run, but deleted on the server
	Dead     State = "dead"     // failed permanently
	Excluded State = "excluded" // rejected, for the reasons that Summary.Excluded lists
)

// statesOf converts states of this package to states of the frontier.
func statesOf(of []State) (all []frontier.State, err error) {
	for _, name := range of {
		s, ok := frontier.ParseState(string(name))
		if !ok {
			return nil, fetch.Usage.Errorf("unknown state %q: use pending, done, kept, gone, dead or excluded", name)
		}
		all = append(all, s)
	}
	return all, nil
}

// Stats contains the statistics of an archive, such as the number of URLs in
// each state.
type Stats struct {
	Run       int64            `json:"run"` // number of the newest run, from 1
	Started   time.Time        `json:"started,omitzero"`
	Ended     time.Time        `json:"ended,omitzero"`      // zero if the run has not ended
	URLs      int64            `json:"urls"`                // number of URLs of all runs
	States    map[State]int64  `json:"states"`              // URLs of the newest run and all pending URLs, by state
	Errors    map[string]int64 `json:"errors,omitempty"`    // failed visits of the newest run, including retried ones, by class of the error
	Earlier   int64            `json:"earlier"`             // number of URLs that were found only by earlier runs
	Unreached int64            `json:"unreached,omitempty"` // number of pending URLs whose servers could not be reached
	Hosts     int64            `json:"hosts"`               // number of hosts with pending URLs
	Waiting   int64            `json:"waiting,omitempty"`   // number of these hosts that no worker may visit yet
	Paused    int64            `json:"paused,omitempty"`    // number of these hosts that PauseHost has paused
	Captures  int64            `json:"captures"`            // number of retrieved objects, including all versions
	Bytes     int64            `json:"bytes"`               // size of the retrieved objects
	Next      time.Time        `json:"next,omitzero"`       // time of the next request to a host that is paused
}

// Status returns the statistics of the crawl.
func (c *Crawl) Status(ctx context.Context) (s Stats, err error) {
	err = c.view(ctx, func(f frontier.Frontier) error {
		counted, err := f.Stats(ctx)
		s = statsOf(counted)
		return err
	})
	return s, err
}

// Seeds returns the seeds of the newest run. It returns no seeds if their list
// was too long to be recorded.
func (c *Crawl) Seeds(ctx context.Context) ([]string, error) {
	var note runNote
	err := c.view(ctx, func(f frontier.Frontier) error {
		counted, err := f.Stats(ctx)
		if err == nil && len(counted.Note) > 0 {
			err = json.Unmarshal(counted.Note, &note)
		}
		return err
	})
	return note.Seeds, err
}

func statsOf(f frontier.Stats) Stats {
	s := Stats{
		Run: f.Run, Started: f.Started, Ended: f.Ended, Next: f.NextDue, URLs: f.URLs, Earlier: f.URLs, Unreached: f.Postponed,
		Hosts: f.Hosts, Errors: f.Errors, Waiting: f.Waiting, Paused: f.Paused, Captures: f.Captures, Bytes: f.Bytes, States: map[State]int64{},
	}
	for state, n := range f.States {
		s.States[State(state.String())] = n
		s.Earlier -= n
	}
	return s
}

// Dump returns the URLs of the crawl. If states are given, it returns only URLs
// with one of these states. A non-nil error ends the sequence.
func (c *Crawl) Dump(ctx context.Context, of ...State) iter.Seq2[Line, error] {
	if len(of) == 0 {
		of = []State{Done, Kept, Pending, Dead, Excluded, Gone}
	}
	return func(yield func(Line, error) bool) {
		states, err := statesOf(of)
		if err == nil {
			err = c.view(ctx, func(f frontier.Frontier) error { return dump(ctx, f, states, yield) })
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(Line{}, err)
		}
	}
}

// errStopped means that the caller stopped the iteration.
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

// A Line describes one URL of an archive, as returned by Dump.
type Line struct {
	URL      string `json:"url"`
	State    State  `json:"state"`
	Via      string `json:"via,omitempty"`
	Depth    int    `json:"depth"`
	Attempts int    `json:"attempts,omitempty"` // number of failed attempts in the newest run
	Media    string `json:"media,omitempty"`
	Size     int64  `json:"size,omitempty"`
	Path     string `json:"path,omitempty"` // relative to tree/
	WARC     string `json:"warc,omitempty"`
	Offset   int64  `json:"offset,omitempty"`
	Note     string `json:"note,omitempty"` // reason of a failure or an exclusion
}

func lineOf(it frontier.Item, s frontier.State) Line {
	l := Line{
		URL: it.URL, State: State(s.String()), Via: metaOf(it).From,
		Depth: it.Depth, Attempts: it.Attempts, Note: it.Note,
	}
	if c := it.LastCapture; c != nil {
		l.Media, l.Size, l.Path, l.WARC, l.Offset = c.Media, c.Size, c.Path, c.File, c.Offset
	}
	return l
}

// Requeue marks all URLs with one of the given states as pending and returns
// their number. If the newest run of a crawl with
// a shared frontier is complete, it becomes active again.
func (c *Crawl) Requeue(ctx context.Context, of ...State) (n int64, err error) {
	states, err := statesOf(of)
	if err != nil {
		return 0, err
	}
	err = c.alter(ctx, func(f frontier.Frontier) (err error) {
		n, err = f.Requeue(ctx, states...)
		if s, ok := f.(frontier.Shared); ok && n > 0 {
			err = s.Reopen(ctx)
		}
		return err
	})
	return n, err
}
