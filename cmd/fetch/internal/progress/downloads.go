package progress

import (
	"slices"
	"sync"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/wrap"
)

// Downloads collects the progress of downloads. Its methods are safe for
// concurrent use.
type Downloads struct {
	// Ended, if not nil, is called when a body has ended. The function line
	// formats the last status line of the body for a terminal of the given
	// width. Ended must be set before the first download.
	Ended func(line func(width int) string)

	started time.Time

	mu      sync.Mutex
	jobs    []job    // URLs under way, oldest first
	bodies  []*body  // bodies under way, oldest first
	total   Snapshot // counts, and bytes of ended bodies
	jobsRun int64    // number of URLs so far
	waiting bool     // no body has ended since a URL or a retry began
}

type job struct {
	number int64
	url    string
	start  time.Time
}

// A body is a response body that is being received.
type body struct {
	id     uint64
	url    string
	start  time.Time
	offset int64 // bytes of earlier attempts
	bytes  int64 // received bytes
	size   int64 // size of the object, or -1 if unknown
}

// NewDownloads returns a new Downloads.
func NewDownloads() *Downloads { return &Downloads{started: time.Now()} }

// Begin records that a URL is under way. The caller must call end when the URL
// has succeeded or failed.
func (d *Downloads) Begin(url string) (end func(err error)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.jobsRun++
	d.waiting = true
	j := job{d.jobsRun, terminal.Plain(url), time.Now()}
	d.jobs = append(d.jobs, j)
	return func(err error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.jobs = slices.DeleteFunc(d.jobs, func(other job) bool { return other.number == j.number })
		if err != nil {
			d.total.Failed++
		} else {
			d.total.Done++
		}
	}
}

// Retry records that a request is sent again.
func (d *Downloads) Retry() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.total.Retries++
	d.waiting = true
}

// Update records an event of the Progress middleware.
func (d *Downloads) Update(e wrap.Event) {
	line := d.update(e)
	if line != nil && d.Ended != nil {
		d.Ended(line)
	}
}

// update records an event. If the body has ended, update returns a function that
// formats its last line.
func (d *Downloads) update(e wrap.Event) func(width int) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.bodies, func(b *body) bool { return b.id == e.ID })
	if i < 0 {
		if e.State == wrap.Ended {
			return nil
		}
		d.bodies = append(d.bodies, &body{id: e.ID, url: plainURL(e.URL), start: time.Now(), offset: e.Offset})
		i = len(d.bodies) - 1
	}
	b := d.bodies[i]
	b.bytes, b.size = e.Bytes, e.Size
	if e.State != wrap.Ended {
		return nil
	}
	d.bodies = slices.Delete(d.bodies, i, i+1)
	d.total.Bytes += b.bytes
	d.waiting = false
	if e.Err == nil {
		b.size = b.offset + b.bytes
	}
	s := b.snapshot()
	s.ETA = 0
	return func(width int) string { return s.line(s.parts(), width, true) }
}

// plainURL returns a URL for a terminal, without user name and password.
func plainURL(u uri.URI) string { return terminal.Plain(u.WithoutUserinfo().String()) }

func (b *body) snapshot() Snapshot {
	s := Snapshot{URL: b.url, Bytes: b.offset + b.bytes, Size: max(b.size, 0), Elapsed: since(b.start), started: true}
	s.Rate = rate(b.bytes, s.Elapsed)
	if left := b.size - s.Bytes; left > 0 && s.Rate > 0 {
		s.ETA = float64(left) / s.Rate
	}
	return s
}

// Snapshot returns the current state. Its URL is the oldest one under way.
func (d *Downloads) Snapshot() Snapshot {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := Snapshot{Elapsed: since(d.started)}
	switch {
	case len(d.bodies) > 0:
		s = d.bodies[0].snapshot()
	case len(d.jobs) > 0:
		s.URL, s.Elapsed = d.jobs[0].url, since(d.jobs[0].start)
	}
	s.Active, s.Done, s.Failed, s.Retries = int64(len(d.jobs)), d.total.Done, d.total.Failed, d.total.Retries
	return s
}

// Lines returns the status lines for a terminal of the given width: one line for
// each body, and the totals of several URLs.
func (d *Downloads) Lines(width int) (lines []string) {
	current := d.Snapshot()
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.bodies) == 0 && len(d.jobs) > 0 && d.waiting {
		lines = append(lines, current.line(current.parts(), width, false))
	}
	for _, b := range d.bodies {
		s := b.snapshot()
		if d.jobsRun == 1 {
			s.Failed, s.Retries = current.Failed, current.Retries
		}
		lines = append(lines, s.line(s.parts(), width, true))
	}
	if d.jobsRun > 1 && len(d.jobs) > 0 {
		lines = append(lines, d.totalLine(width))
	}
	return lines
}

// totalLine returns the line with the totals. The caller must hold d.mu.
func (d *Downloads) totalLine(width int) string {
	s := d.total
	for _, b := range d.bodies {
		s.Bytes += b.bytes
	}
	s.Elapsed = since(d.started)
	parts := []part{{count(s.Done, "done"), 9}, {", " + count(int64(len(d.jobs)), "under way"), 4}}
	parts = append(s.appendErrors(parts), part{Size(s.Bytes), 6}, part{Size(int64(rate(s.Bytes, s.Elapsed))) + "/s", 5},
		part{clock(s.Elapsed), 3})
	return s.line(parts, width, false)
}
