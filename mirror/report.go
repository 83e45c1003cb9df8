package mirror

import (
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/internal/format/crawlreport"
	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// A report counts the results of a run and sends events to the caller. It is
// not safe for concurrent use.
type report struct {
	log          *slog.Logger
	now          func() time.Time
	onEvent      func(Event)
	onProgress   func(Progress)
	appendLog    func(any) // appends a line to crawl.jsonl
	overrideText func(override.Setting) string
	summary      Summary
	newMessages  int64     // number of new objects with the state Kept and of new messages
	lastProgress time.Time // time of the last call of onProgress
	stale        bool      // a call of onProgress was omitted since then
	untrusted    int64     // number of URLs that are left for a run whose seeds the user enters
	hint         string    // advice for the first URL that is denied because the user did not enter its seed
	statistics   crawlreport.Collector
}

func (r *report) start(run int64, again bool) { r.summary.Run, r.summary.Repeated = run, again }

// setPending copies the number of pending URLs and dropped URLs from s to the
// summary.
func (r *report) setPending(s frontier.Stats) {
	r.summary.Pending, r.summary.LeftOut[OverQueue] = s.States[frontier.Pending]-s.Postponed+r.untrusted, s.Dropped
}

// setTotals copies the numbers of URLs at the end of the run from s to the
// summary.
func (r *report) setTotals(s frontier.Stats) {
	r.setPending(s)
	r.summary.Dead, r.summary.Postponed = s.States[frontier.Dead], s.Postponed
}

const progressInterval = time.Second

// progress calls onProgress at most once per progressInterval. It ignores
// errors of stats, because the next operation on the frontier returns the same
// error.
func (r *report) progress(stats func() (frontier.Stats, error)) {
	if r.onProgress == nil {
		return // the statistics of a large frontier take time
	}
	now := r.now()
	if now.Sub(r.lastProgress) < progressInterval {
		r.stale = true
		return
	}
	r.lastProgress, r.stale = now, false
	if s, err := stats(); err == nil {
		r.setPending(s)
		r.onProgress(Progress{r.summary, s.Hosts})
	}
}

// lateProgress calls onProgress if the numbers of its last call are old, as when
// one visit takes long after many others.
func (r *report) lateProgress(stats func() (frontier.Stats, error)) {
	if r.stale {
		r.progress(stats)
	}
}

// emit logs and sends an event that is not a visit. It sets the time of e.
func (r *report) emit(e Event) {
	r.logEvent(&e)
	r.send(e)
}

// send sends an event to the caller and to crawl.jsonl. It sets the time of e.
func (r *report) send(e Event) {
	e.Time = r.now().UTC()
	r.onEvent(e)
	r.appendLog(&e)
}

// opened reports the repairs of archive.Open.
func (r *report) opened(cuts []archive.Truncation, renamed []string, losses []archive.Loss) {
	for _, c := range cuts {
		r.emit(Event{State: "cut", WARC: c.File, Offset: c.Offset, Size: c.Size,
			Note: fmt.Sprintf("%s: removed %d uncommitted bytes at the end", c.File, c.Size)})
	}
	for _, name := range renamed {
		r.emit(Event{State: "renamed", WARC: name, Note: name + ": the file had the name of another WARC file, and was renamed"})
	}
	for _, l := range losses {
		r.emit(Event{State: "lost", WARC: l.File, Note: fmt.Sprintf("%s: %d records are missing", l.File, l.Records)})
	}
}

// failedUpload reports an event for a WARC file whose upload failed. The upload
// is repeated. Package upload has logged the error.
func (r *report) failedUpload(name string, err error) {
	r.send(Event{Run: r.summary.Run, State: "waits", WARC: name,
		Note: fmt.Sprintf("%s: the upload failed and is repeated: %v", name, err)})
}

// paused reports an event when the worker stops claiming hosts for the given
// reason, or claims hosts again if reason is "".
func (r *report) paused(reason string) {
	state := "paused"
	if reason == "" {
		state, reason = "resumed", "the worker visits hosts again"
	}
	r.emit(Event{Run: r.summary.Run, State: state, Note: reason})
}

// addDenied counts a URL that the Policy denied because the user did not enter
// its seed. It reports the first one.
func (r *report) addDenied() {
	r.untrusted++
	if r.hint != "" {
		r.emit(Event{Run: r.summary.Run, State: "denied", Note: "the policy trusts only URLs of the command line: " + r.hint})
		r.hint = ""
	}
}

// reportGuards reports the number of URLs that each guard omitted.
func (r *report) reportGuards() {
	for g, n := range r.summary.LeftOut {
		if n > 0 {
			name := Guard(g).String()
			r.emit(Event{Run: r.summary.Run, State: "guard", Guard: name, Omitted: n,
				Note: fmt.Sprintf("the limit %q omitted %d URLs", name, n)})
		}
	}
}

// unlistedFailures reports that n failed URLs are not in failed.txt. These URLs
// are invalid or contain line breaks.
func (r *report) unlistedFailures(n int64) {
	r.emit(Event{State: frontier.Dead.String(), Note: fmt.Sprintf("failed.txt lacks %d failed items that are not valid URLs", n)})
}

// newEvent returns the event of the visit v. The parameter k is the new capture,
// or nil. The parameter seed is true if the URL is a seed of this run.
func (r *report) newEvent(v *visit, k *frontier.Capture, seed bool) Event {
	e := Event{
		Time: v.started, Run: r.summary.Run, URL: v.item.URL, Via: v.meta.From, Depth: v.item.Depth, Seed: seed,
		State: v.outcome.state().String(), Repaired: v.content == contentRestored, Unreached: v.outcome == visitUnreached, Note: v.note,
		Millis: r.now().Sub(v.began).Milliseconds(), Attempts: v.item.Attempts,
		Err: v.err, Guard: v.leftOut.first(), Omitted: v.leftOut.Total(), Sessions: v.sessionLinks, NoFollow: v.noFollow,
	}
	if v.resp != nil {
		e.Code, e.Media = v.resp.Code, v.resp.Media
	}
	if seed || replacesSeed(v) {
		e.Rejected = v.outcome == visitUntrusted || v.outcome == visitGone || v.outcome == visitExcluded && (e.Code == 0 && e.Media == "" || v.redirects())
	}
	if _, refused := errors.AsType[*fetch.Refusal](v.err); refused {
		if setting := override.Of(v.err); setting != (override.Setting{}) {
			e.Override = r.overrideText(setting)
		}
	}
	if k != nil {
		e.Path, e.WARC, e.Offset = k.Path, k.File, k.Offset
		e.SHA256, e.Validator, e.Modified = hex.EncodeToString(k.Digest[:]), k.Validator, k.Modified
	}
	if v.body != nil {
		e.Size = v.size
	}
	e.Unread = v.page != nil && v.page.failed
	e.Guessed = v.outcome == visitExcluded && lacksGuess(v, v.err)
	e.Unchanged = v.outcome.succeeded() && v.content.isArchived()
	return e
}

// addVisit counts the committed visit v and reports its event e.
func (r *report) addVisit(v *visit, e Event) {
	t := &r.summary
	t.SessionLinks += v.sessionLinks
	t.NoFollow += v.noFollow
	for g, n := range v.leftOut {
		t.LeftOut[g] += n
	}
	if v.outcome == visitKept || v.isNew() && isMessage(v.scheme, e.Media) {
		r.newMessages++
	}
	if e.Unread {
		t.Unread++
	}
	switch v.outcome {
	case visitDone, visitKept:
		switch {
		case !e.Unchanged:
			t.New++
			t.Bytes += e.Size
		case v.content == contentRestored:
			t.Repaired++
		case v.content == contentListed:
			t.Listed++
		case v.requested:
			t.Unchanged++
		}
	case visitUnreached:
		t.Unreached++
	case visitUntrusted:
		r.addDenied()
	case visitGone:
		t.Gone++
	case visitDead:
		t.Failed++
	case visitExcluded:
		if e.Guessed {
			break // a user would look for a lost page
		}
		if t.Excluded++; v.note == reasonHostLimit {
			t.HostLimit++
		}
	}
	if v.outcome != visitUntrusted && !e.Guessed {
		r.statistics.Add(reportedVisit(v, &e))
	}
	r.logVisit(v, &e)
	r.onEvent(e)
}
