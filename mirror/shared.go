package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/postgres"
)

// sharedSettings returns the settings that all workers of a crawl must have in
// common. Each worker has its own WARC settings and number of hosts.
func sharedSettings(o *Options) *settings {
	s := settingsOf(o)
	s.WARC, s.Hosts, s.Limits.MinFree, s.MaxDelete, s.Store = nil, 0, 0, 0, o.Store
	return &s
}

// checkShared returns an error if the settings of this worker differ from those
// of the worker that started the run.
func (c *crawl) checkShared(ctx context.Context) error {
	if c.o.Frontier == "" {
		return nil
	}
	stats, err := c.queue.Stats(ctx)
	if err != nil {
		return err
	}
	var note runNote
	if err := json.Unmarshal(stats.Note, &note); err != nil || note.Settings == nil {
		return err // the settings were too long to be stored
	}
	ours, err := json.Marshal(sharedSettings(&c.o))
	if err != nil {
		return err
	}
	theirs, err := json.Marshal(note.Settings)
	if err != nil {
		return err
	}
	if names := differences(ours, theirs); len(names) > 0 {
		return fetch.Usage.Errorf("the crawl was started with other settings: %s", strings.Join(names, ", "))
	}
	return nil
}

// differences returns the names of the members in which two JSON objects differ.
func differences(a, b []byte) (names []string) {
	var x, y map[string]any
	if errors.Join(json.Unmarshal(a, &x), json.Unmarshal(b, &y)) != nil {
		return []string{"settings"}
	}
	return compareObjects("", x, y)
}

func compareObjects(prefix string, x, y map[string]any) (names []string) {
	all := map[string]bool{}
	for name := range x {
		all[name] = true
	}
	for name := range y {
		all[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		inner, ok := x[name].(map[string]any)
		other, ok2 := y[name].(map[string]any)
		switch {
		case ok && ok2:
			names = append(names, compareObjects(prefix+name+".", inner, other)...)
		case !reflect.DeepEqual(x[name], y[name]):
			names = append(names, prefix+name)
		}
	}
	return names
}

// FrontierOptions returns the seeds and the settings of the newest run of a
// crawl with a shared frontier. The result ok is false if the crawl has no run.
// The caller sets Dir, WARC and the fields that StoredOptions does not set.
func FrontierOptions(ctx context.Context, dsn string) (o Options, ok bool, err error) {
	err = viewShared(ctx, dsn, func(f frontier.Frontier) error {
		stats, err := f.Stats(ctx)
		if err != nil || stats.Run == 0 {
			return err
		}
		var note runNote
		if err := json.Unmarshal(stats.Note, &note); err != nil {
			return err
		}
		if note.Settings == nil || len(note.Seeds) == 0 {
			return fetch.Usage.Errorf("the list of the seeds of the crawl was too long to be stored: name the URLs")
		}
		s := *note.Settings
		s.Seeds, s.Hosts, s.MaxDelete, s.WARC = note.Seeds, 16, 0.1, &warcSettings{}
		o, err = s.options()
		o.Frontier, ok = dsn, true
		return err
	})
	if errors.Is(err, postgres.ErrNoCrawl) {
		return o, false, nil
	}
	return o, ok, archive.Classify(err)
}

// A Worker describes a worker of a crawl with a shared frontier.
type Worker struct {
	Name   string    `json:"name"`
	Active time.Time `json:"active"`                     // time of the last heartbeat
	Silent float64   `json:"silent"`                     // seconds since Active
	URLs   float64   `json:"urls_per_second,omitempty"`  // during the last minute; 0 for a worker that is silent for a minute
	Bytes  float64   `json:"bytes_per_second,omitempty"` // as for URLs
	Leases int64     `json:"leases,omitempty"`           // hosts that the worker visits
	Files  int64     `json:"files,omitempty"`            // WARC files
	Stored int64     `json:"stored,omitempty"`           // WARC files that are in the store

	Spool *Spool `json:"spool,omitempty"` // finished files that wait for their upload; nil if there are none
}

// A Spool describes the finished WARC files of a worker that wait for their
// upload.
type Spool struct {
	Files int64 `json:"files"`
	Bytes int64 `json:"bytes"`
}

// Workers returns the workers of a crawl with a shared frontier.
func Workers(ctx context.Context, dsn string) (all []Worker, err error) {
	err = viewShared(ctx, dsn, func(f frontier.Frontier) error {
		found, err := postgres.Workers(ctx, f)
		for _, w := range found {
			shown := Worker{Name: w.Name, Active: w.Beat, Silent: roundTenth(w.Silent.Seconds()), Leases: w.Leases, Files: w.Files, Stored: w.Stored}
			if w.Silent < rateTime {
				shown.URLs, shown.Bytes = roundTenth(w.URLRate), math.Round(w.ByteRate)
			}
			if w.Waiting > 0 {
				shown.Spool = &Spool{w.Waiting, w.Spool}
			}
			all = append(all, shown)
		}
		return err
	})
	return all, archive.Classify(err)
}

// roundTenth rounds x to one decimal place.
func roundTenth(x float64) float64 { return math.Round(10*x) / 10 }

// FrontierStatus returns the statistics of a crawl with a shared frontier.
func FrontierStatus(ctx context.Context, dsn string) (s Stats, err error) {
	err = viewShared(ctx, dsn, func(f frontier.Frontier) error {
		counted, err := f.Stats(ctx)
		s = statsOf(counted)
		return err
	})
	return s, archive.Classify(err)
}

// FrontierDump is like Dump for a crawl with a shared frontier.
func FrontierDump(ctx context.Context, dsn string, of ...State) iter.Seq2[Line, error] {
	return dumpFrom(ctx, func(f func(frontier.Frontier) error) error { return viewShared(ctx, dsn, f) }, of)
}

// FrontierRequeue is like Requeue for a crawl with a shared frontier. It can be
// called during a run. If the newest run is complete, it becomes active again.
func FrontierRequeue(ctx context.Context, dsn string, of ...State) (n int64, err error) {
	states, err := statesOf(of)
	if err != nil {
		return 0, err
	}
	err = viewShared(ctx, dsn, func(f frontier.Frontier) (err error) {
		if n, err = f.Requeue(ctx, states...); n > 0 {
			err = postgres.Reopen(ctx, f)
		}
		return err
	})
	return n, archive.Classify(err)
}

// viewShared opens the shared frontier at dsn, calls f and closes the frontier.
func viewShared(ctx context.Context, dsn string, f func(frontier.Frontier) error) error {
	db, err := postgres.OpenExisting(ctx, dsn)
	if err != nil {
		return err
	}
	return errors.Join(f(db), db.Close())
}

// measureSkew records the difference between the clocks of the database and of
// this machine. The parameter before is the local time just before the lease
// was claimed.
func (c *crawl) measureSkew(before time.Time, l *frontier.Lease) {
	c.skew.Store(int64(l.Until.Add(-leaseDuration).Sub(before)))
}

// fileNameOf returns the name of a worker for use in file names. It replaces
// unusual characters by "_".
func fileNameOf(worker string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, worker)
}
