package mirror

import (
	"errors"
	"fmt"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/archive"
	"github.com/anyurl/fetch/internal/frontier"
)

// report counts what a run does, and tells of it. Its callers take turns.
type report struct {
	now          func() time.Time
	onEvent      func(Event)
	onProgress   func(Progress)
	appendLog    func(any) // appends a line to the journal
	overrideText func(fetch.Override) string
	summary      Summary
	newMessages  int64     // Kept, new in this run
	lastProgress time.Time // when Progress was called
}

func (r *report) start(run int64, again bool) { r.summary.Run, r.summary.Repeated = run, again }

// left takes what the frontier counts.
func (r *report) setPending(s frontier.Stats) {
	r.summary.Pending, r.summary.OverQueue = s.States[frontier.Pending]-s.Parked, s.Dropped
}

const progressInterval = time.Second

// progress tells how far the run is, but not at each occasion. An error of
// stats is that of the next call of the frontier too.
func (r *report) progress(stats func() (frontier.Stats, error)) {
	now := r.now()
	if now.Sub(r.lastProgress) < progressInterval {
		return
	}
	r.lastProgress = now
	if s, err := stats(); err == nil {
		r.setPending(s)
		r.onProgress(Progress{r.summary, s.Hosts})
	}
}

func (r *report) emit(e Event) {
	r.onEvent(e)
	r.appendLog(&e)
}

// cut tells that the end of a WARC file was cut off.
func (r *report) truncatedWARC(c archive.Cut) {
	r.emit(Event{
		Time: r.now().UTC(), State: "cut", WARC: c.File, Offset: c.Offset, Size: c.Size,
		Note: fmt.Sprintf("%s: %d bytes that no run committed are cut off", c.File, c.Size),
	})
}

// odd reports n items that failed and are no URL on one line.
func (r *report) unlistedFailures(n int64) {
	r.emit(Event{
		Time: r.now().UTC(), State: frontier.Dead.String(),
		Note: fmt.Sprintf("%d failed items are no URLs and are not in failed.txt", n),
	})
}

// visit counts a committed visit and tells of it. Seed says that its URL is a
// seed of this run.
func (r *report) addVisit(v *visit, result *frontier.Result, seed bool) {
	t := &r.summary
	if v.omittedEntries {
		t.OverEntries += v.omitted
	} else {
		t.OverLinks += v.omitted
	}
	e := Event{
		Time: v.started, Run: t.Run, URL: v.item.URL, Via: v.meta.From, Seed: seed, State: v.state.String(),
		Repaired: v.repaired, Unreached: v.parked, Millis: r.now().Sub(v.started).Milliseconds(), Attempts: v.item.Attempts, Note: v.note,
	}
	if v.resp != nil {
		e.Code, e.Media = v.resp.Code, v.resp.Media
	}
	if refusal, ok := errors.AsType[*fetch.Refusal](v.err); ok && refusal.Override != (fetch.Override{}) {
		e.Override = r.overrideText(refusal.Override)
	}
	if k := result.Capture; k != nil {
		e.Path, e.WARC, e.Offset = k.Path, k.File, k.Offset
	}
	if v.body != nil {
		e.Size = v.size
	}
	if v.state == frontier.Kept {
		r.newMessages++
	}
	switch v.state {
	case frontier.Done, frontier.Kept:
		switch e.Unchanged = v.unchanged || v.sameContent; {
		case !e.Unchanged:
			t.New++
			t.Bytes += e.Size
		case v.repaired:
			t.Repaired++
		case v.listed:
			t.Listed++
		case v.requested:
			t.Unchanged++
		}
	case frontier.Pending:
		if v.parked {
			t.Unreached++
		}
	case frontier.Gone:
		t.Gone++
	case frontier.Dead:
		t.Failed++
	case frontier.Excluded:
		t.Excluded++
	}
	r.emit(e)
}
