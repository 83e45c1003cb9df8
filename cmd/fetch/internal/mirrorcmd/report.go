package mirrorcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/progress"
	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/uri"
)

// A mirrorReport prints the events and the summary of a mirror.
type mirrorReport struct {
	*console.Streams
	crawl   *progress.Crawl
	started time.Time

	json      bool  // if true, print each event as JSON
	unwritten error // error of printing an event, after which no event is printed, or nil

	shows         bool   // if true, the progress is shown
	closeProgress func() // ends the display of the progress; further calls have no effect

	source        seedSource       // where the seeds come from
	frontier      mirror.Frontier  // shared frontier, or nil
	rejectedSeeds int64            // seeds that were excluded or are gone
	deniedSeeds   int64            // seeds that were excluded
	overrides     map[string]int64 // number of URLs that the policy blocked, by the flag that allows them
	guards        *guardFlags
	maxFailed     int64 // value of --max-failed, or -1 if not set
}

// newMirrorReport returns a new mirrorReport. It shows the progress, unless
// events are printed to the same terminal as JSON.
func newMirrorReport(s *console.Streams, json bool, f *console.ProgressFlags) *mirrorReport {
	r := &mirrorReport{Streams: s, json: json, started: time.Now(), overrides: map[string]int64{},
		crawl: progress.NewCrawl(), closeProgress: func() {}}
	r.shows = s.ShowsProgress(f) && !(json && terminal.Is(s.Stdout) && terminal.Is(s.Stderr))
	if r.shows {
		r.closeProgress = sync.OnceFunc(s.ShowProgress(f, r.crawl, (*progress.Snapshot).CrawlText))
	}
	return r
}

// maxOverrides limits the number of different flags that a summary suggests.
const maxOverrides = 8

// noted lists the states of events that are printed even without -v.
var noted = []string{"dead", "cut", "lost", "waits", "waiting", "paused", "resumed", "denied"}

// event prints an event of the mirror if it reports a problem, or if -v is set.
func (r *mirrorReport) event(e mirror.Event) {
	if r.shows {
		r.crawl.Visit(e)
	}
	if r.json && r.unwritten == nil {
		r.unwritten = console.Encode(r.Stdout, e) // a closed pipe ends the process by SIGPIPE
	}
	if e.Rejected {
		r.rejectedSeeds++
		if e.State == "excluded" {
			r.deniedSeeds++
		}
	}
	if _, known := r.overrides[e.Override]; e.Override != "" && (known || len(r.overrides) < maxOverrides) {
		r.overrides[e.Override]++
	}
	// The note of a failed request contains the URL. Other unreached URLs were
	// never requested.
	unreached := e.Unreached && strings.Contains(e.Note, uri.Redact(e.URL))
	if r.Log != nil {
		return // the mirror itself logs its events
	}
	switch failed := e.Rejected || unreached || e.State == "dead"; {
	case failed && e.Err != nil && r.ErrorJSON && !r.Silent:
		console.Encode(r.Stderr, visitRecord(e))
	case failed || e.Unread || r.Verbose || slices.Contains(noted, e.State):
		r.Note("%s", eventText(e))
	}
}

// visitRecord returns the JSON object of --error-json for a visit that failed.
func visitRecord(e mirror.Event) console.ErrorRecord {
	record := console.ErrorRecordOf(e.Err, console.ExitCode(context.Background(), e.Err), console.ErrorSource{Attempts: e.Attempts + 1})
	record.URL, record.Override = uri.Redact(e.URL), e.Override
	return record
}

// eventText returns the line of text that is printed for an event.
func eventText(e mirror.Event) string {
	state := e.State
	switch {
	case e.Repaired:
		state += ", repaired"
	case e.Unchanged:
		state += ", unchanged"
	}
	switch {
	case e.Note == "":
		return e.URL + ": " + state
	case e.URL != "" && strings.Contains(e.Note, uri.Redact(e.URL)): // an error that contains the URL
		return e.Note
	case e.URL == "":
		return state + ": " + e.Note
	}
	return e.URL + ": " + state + ": " + e.Note
}

// printSummary prints the numbers of retrieved, unchanged and failed objects,
// and a note if the mirror is incomplete.
func (r *mirrorReport) printSummary(s mirror.Summary, err error) {
	if s.Run == 0 {
		return
	}
	if table := r.crawl.Table(); r.shows && table != "" && terminal.Is(r.Stderr) {
		io.WriteString(r.Stderr, table)
	}
	text := fmt.Sprintf("run %d (%s): %d new", s.Run, durationText(time.Since(r.started)), s.New)
	if s.New > 0 {
		text += " (" + console.SizeText(s.Bytes) + ")"
	}
	for _, part := range []struct {
		n    int64
		name string
	}{
		{s.Unchanged, "unchanged"}, {s.Listed, "unchanged by their listings"}, {s.Repaired, "repaired"},
		{s.Gone, "gone"}, {s.Attic, "moved to attic/"},
		{s.Failed, "failed"}, {s.Unreached, "not reached"}, {s.Excluded, "excluded"}, {s.Unread, "not read by the browser"}, {s.Pending, "left"},
	} {
		if part.n > 0 {
			text += fmt.Sprintf(", %d %s", part.n, part.name)
		}
	}
	r.Note("%s", text)
	if r.source != userSeeds && r.deniedSeeds > 0 {
		r.Note("seeds of %s that were denied: %d; the policy trusts only URLs of the command line: "+
			"to mirror a denied URL, name it there", r.source, r.deniedSeeds)
	}
	for _, flag := range slices.Sorted(maps.Keys(r.overrides)) {
		r.Note("denied by policy: %d; to allow: %s", r.overrides[flag], flag)
	}
	if s.HostLimit > 0 {
		r.Note("URLs excluded because of the limit of objects from each host: %d (--max-per-host N)", s.HostLimit)
	}
	r.printGuards(s.LeftOut)
	if s.SessionLinks > 0 {
		r.Note("links with session identifiers or ignored parameters: %d; the mirror follows one link to each object "+
			"(--keep-session-ids)", s.SessionLinks)
	}
	if s.NoFollow > 0 {
		r.Note("links that were not followed because of nofollow: %d (--nofollow none follows them)", s.NoFollow)
	}
	if errors.Is(err, mirror.ErrPaused) {
		r.Note("fetch frontier status lists the paused hosts; after fetch frontier resume, run the same command again")
		return
	}
	switch fault := fetch.FaultOf(err); {
	case fault == fetch.TooLarge && r.frontier != nil:
		r.Note("the limits count for all workers of the crawl; fetch frontier limit raises them")
	case slices.Contains([]fetch.Fault{fetch.Canceled, fetch.DiskFull, fetch.TooLarge}, fault):
		r.Note("run the same command again to continue")
	}
}

// durationText formats a duration, such as 200 ms, 1.5 s or 2m30s.
func durationText(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// failure returns an error if URLs were left out because of a limit, or if URLs
// of the archive have failed. If both have happened, it prints a note about the
// failed URLs.
func (r *mirrorReport) failure(dir string, sum mirror.Summary) error {
	err := r.failedURLs(dir, sum)
	if err == nil && sum.Unread > 0 {
		err = fetch.NotFound.Errorf("pages that the browser could not open or read: %d; crawl.jsonl has their reasons", sum.Unread)
	}
	n := sum.LeftOut.Total()
	if n == 0 {
		return err
	}
	if err != nil {
		r.Note("%v", err)
	}
	return fetch.TooLarge.Errorf("URLs left out by guards: %d; running the same command again does not help, "+
		"except for articles of newsgroups: raise the limits named above", n)
}

// failedURLs returns an error if URLs of the archive have failed, unless
// --max-failed tolerates the number of new failures.
func (r *mirrorReport) failedURLs(dir string, sum mirror.Summary) error {
	dead, newly := sum.Dead+r.rejectedSeeds, sum.NewlyFailed+r.rejectedSeeds
	switch {
	case dead+sum.Postponed == 0:
		return nil
	case r.maxFailed >= 0 && newly <= r.maxFailed:
		r.Note("URLs that failed: %d, newly %d (--max-failed %d); %s lists them", dead+sum.Postponed, newly,
			r.maxFailed, filepath.Join(dir, "failed.txt"))
		return nil
	case dead == 0:
		return fetch.Connect.Errorf("URLs that could not be reached: %d; the same command requests them again", sum.Postponed)
	}
	place := dir
	if r.frontier != nil {
		place = "with the same --frontier"
	}
	return fetch.NotFound.Errorf("URLs that failed permanently: %d; "+
		"fetch frontier dump --state dead,gone,excluded %s lists them", dead, place)
}
