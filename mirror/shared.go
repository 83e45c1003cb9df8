package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/store"
	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// A Frontier is a database that several workers share. Package mirror/postgres
// returns values of this type. Only packages of this module implement it.
type Frontier interface{ frontier.Database }

// A Store stores the finished WARC files of a crawl. [FolderStore] and package
// mirror/s3 return values of this type. Only packages of this module implement
// it. The method String returns the URL of the Store, which the frontier records.
type Store interface{ store.Opener }

// FolderStore returns the Store with the URL file:///DIR. The directory must
// exist.
func FolderStore(url string) Store { return folderStore(url) }

type folderStore string

func (s folderStore) Open() (store.Store, error) { return store.OpenFolder(string(s)) }
func (s folderStore) String() string             { return string(s) }

// ErrUnnamedStore means that only the database of a crawl names its store.
var ErrUnnamedStore = fetch.Usage.Errorf("only the database of the crawl names the store")

// A namedStore is the URL of a store that only the database of a crawl names. It
// is not used, because another program that can write to the database could send
// credentials to any server.
type namedStore string

func (s namedStore) Open() (store.Store, error) {
	return nil, fmt.Errorf("%w %q", ErrUnnamedStore, string(s))
}
func (s namedStore) String() string { return string(s) }

// storeURL returns the URL of s, or "" if s is nil.
func storeURL(s Store) string {
	if s == nil {
		return ""
	}
	return s.String()
}

// sharedSettings returns the settings that all workers of a crawl must have in
// common. Each worker has its own WARC settings and number of hosts.
func sharedSettings(o *Options) *settings {
	s := settingsOf(o)
	s.WARC, s.Hosts, s.Limits.MinFree, s.MaxDelete, s.Store = nil, 0, 0, 0, storeURL(o.Store)
	return &s
}

// checkShared returns an error if the settings of this worker differ from those
// of the worker that started the run.
func (c *crawl) checkShared(ctx context.Context) error {
	if c.shared == nil {
		return nil
	}
	stats, err := c.queue.Stats(ctx)
	if err != nil {
		return err
	}
	note, err := parseNote(stats.Note)
	if err != nil || note.Settings == nil {
		return err // the settings were too long to be stored
	}
	return sharedSettings(&c.o).checkEqual(note.Settings)
}

// checkEqual returns an error if the settings of the crawl differ from s. The
// limits that ChangeLimits changes may differ, because they can have changed
// since this worker has read them. The worker uses the stored ones.
func (s *settings) checkEqual(crawl *settings) error {
	own := *s
	own.Limits.Files, own.Limits.Bytes, own.Limits.Seconds = crawl.Limits.Files, crawl.Limits.Bytes, crawl.Limits.Seconds
	ours, err := json.Marshal(&own)
	theirs, err2 := json.Marshal(crawl)
	if err := errors.Join(err, err2); err != nil {
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

// sharedOptions implements Options for a crawl with a shared frontier.
func (c *Crawl) sharedOptions(ctx context.Context) (o Options, err error) {
	err = c.viewShared(ctx, func(f frontier.Shared) error {
		stats, err := f.Stats(ctx)
		if err == nil && stats.Run == 0 {
			err = frontier.ErrNoCrawl
		}
		if err != nil {
			return err
		}
		note, err := parseNote(stats.Note)
		if err != nil {
			return err
		}
		if note.Settings == nil || len(note.Seeds) == 0 {
			return fetch.Usage.Errorf("the list of the seeds of the crawl was too long to be stored: name the URLs")
		}
		s := *note.Settings
		s.Seeds, s.Hosts, s.MaxDelete, s.WARC = note.Seeds, 16, 0.1, &warcSettings{}
		o, err = s.options()
		o.Frontier = c.place.Frontier
		return err
	})
	if errors.Is(err, frontier.ErrNoCrawl) {
		err = fetch.Local.Errorf("the crawl has no run: %w", fs.ErrNotExist)
	}
	return o, archive.Classify(err)
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

// Workers returns the workers of a crawl with a shared frontier. For other
// crawls, the fault of the error is fetch.Usage.
func (c *Crawl) Workers(ctx context.Context) (all []Worker, err error) {
	err = c.viewShared(ctx, func(f frontier.Shared) error {
		found, err := f.Workers(ctx)
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

// viewShared opens a shared frontier, calls f and closes the frontier.
func viewShared(ctx context.Context, in Frontier, f func(frontier.Shared) error) error {
	db, err := in.View(ctx)
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
