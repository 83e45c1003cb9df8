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
	now      func() time.Time
	event    func(Event)
	listener func(Progress)
	log      func(any) // appends a line to the journal
	override func(fetch.Override) string
	total    Summary
	messages int64     // Kept, new in this run
	looked   time.Time // when Progress was called
}

func (r *report) begin(run int64, again bool) { r.total.Run, r.total.Again = run, again }

// left takes what the frontier counts.
func (r *report) left(s frontier.Stats) {
	r.total.Left, r.total.OverQueue = s.States[frontier.Pending]-s.Parked, s.Dropped
}

const lookEvery = time.Second

// progress tells how far the run is, but not at each occasion. An error of
// stats is that of the next call of the frontier too.
func (r *report) progress(stats func() (frontier.Stats, error)) {
	now := r.now()
	if now.Sub(r.looked) < lookEvery {
		return
	}
	r.looked = now
	if s, err := stats(); err == nil {
		r.left(s)
		r.listener(Progress{r.total, s.Hosts})
	}
}

func (r *report) add(e Event) {
	r.event(e)
	r.log(&e)
}

// cut tells that the end of a WARC file was cut off.
func (r *report) cut(c archive.Cut) {
	r.add(Event{
		Time: r.now().UTC(), State: "cut", WARC: c.File, Offset: c.Offset, Size: c.Size,
		Note: fmt.Sprintf("%s: %d bytes that no run committed are cut off", c.File, c.Size),
	})
}

// odd reports n items that failed and are no URL on one line.
func (r *report) odd(n int64) {
	r.add(Event{
		Time: r.now().UTC(), State: frontier.Dead.String(),
		Note: fmt.Sprintf("%d failed items are no URLs and are not in failed.txt", n),
	})
}

// visit counts a committed visit and tells of it. Seed says that its URL is a
// seed of this run.
func (r *report) visit(v *visit, result *frontier.Result, seed bool) {
	t := &r.total
	if v.cutList {
		t.OverEntries += v.cut
	} else {
		t.OverLinks += v.cut
	}
	e := Event{
		Time: v.at, Run: t.Run, URL: v.item.URL, Via: v.meta.From, Seed: seed, State: v.state.String(),
		Repaired: v.repaired, Unreached: v.parked, Millis: r.now().Sub(v.at).Milliseconds(), Attempts: v.item.Attempts, Note: v.note,
	}
	if v.resp != nil {
		e.Code, e.Media = v.resp.Code, v.resp.Media
	}
	if refusal, ok := errors.AsType[*fetch.Refusal](v.err); ok && refusal.Override != (fetch.Override{}) {
		e.Override = r.override(refusal.Override)
	}
	if k := result.Capture; k != nil {
		e.Path, e.WARC, e.Offset = k.Path, k.File, k.At
	}
	if v.body != nil {
		e.Size = v.size
	}
	if v.state == frontier.Kept {
		r.messages++
	}
	switch v.state {
	case frontier.Done, frontier.Kept:
		switch e.Same = v.same || v.repeated; {
		case !e.Same:
			t.New++
			t.Bytes += e.Size
		case v.repaired:
			t.Repaired++
		case v.listed:
			t.Listed++
		case v.asked:
			t.Same++
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
	r.add(e)
}
