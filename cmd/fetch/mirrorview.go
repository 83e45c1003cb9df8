package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/uri"
	"github.com/vbauerster/mpb/v8/decor"
)

// view shows how a mirror goes on: what failed, with -v each visit, and on a
// terminal how far it is. With --json each visit is a line of standard output.
type view struct {
	app     *app
	json    bool
	bar     *crawlBar // nil: no terminal
	began   time.Time
	refused int64 // of the URLs that were typed

	overrides map[string]int64 // URLs that the policy refused, by the flag that allows them
	limits    mirror.Limits
	maxFailed int64 // negative: not given
}

func (a *app) newView(events bool) *view {
	return &view{app: a, bar: a.newCrawlBar(events), json: events, began: time.Now(), overrides: map[string]int64{}}
}

func (v *view) event(e mirror.Event) {
	if v.json {
		encode(v.app.stdout, e) // a reader that has gone ends us by the signal
	}
	refused := e.State == "excluded" && e.Seed && e.Code == 0 && e.Media == "" // typed, and never answered
	if refused {
		v.refused++
	}
	if _, known := v.overrides[e.Override]; e.Override != "" && (known || len(v.overrides) < maxOverrides) {
		v.overrides[e.Override]++
	}
	unreached := e.Unreached && strings.Contains(e.Note, uri.Redact(e.URL)) // else there was no request
	if v.app.flags.verbose || refused || unreached || e.State == "dead" || e.State == "cut" {
		v.say(about(e))
	}
}

// maxOverrides bounds how many flags a summary names.
const maxOverrides = 8

// about is what a person is told of a visit.
func about(e mirror.Event) string {
	what := e.State
	switch {
	case e.Repaired:
		what += ", repaired"
	case e.Unchanged:
		what += ", unchanged"
	}
	switch {
	case e.Note == "":
		return e.URL + ": " + what
	case e.URL != "" && strings.Contains(e.Note, uri.Redact(e.URL)): // an error, which says all
		return e.Note
	case e.URL == "":
		return what + ": " + e.Note
	}
	return e.URL + ": " + what + ": " + e.Note
}

// say is app.note, above the line that shows how far the mirror is.
func (v *view) say(text string) {
	if v.bar == nil {
		v.app.note("%s", text)
		return
	}
	fmt.Fprintf(v.bar.shown, "fetch: %s\n", plain(text))
}

func (v *view) progress(p mirror.Progress) {
	if v.bar != nil {
		v.bar.show(p)
	}
}

// end may be called again.
func (v *view) end() {
	if v.bar != nil {
		v.bar.end()
		v.bar = nil
	}
}

// summary says what was done, and whether there is more to do.
func (v *view) summary(s mirror.Summary, err error) {
	if s.Run == 0 {
		return
	}
	text := fmt.Sprintf("run %d (%v): %d new", s.Run, time.Since(v.began).Round(time.Second/10), s.New)
	if s.New > 0 {
		text += " (" + sizeText(s.Bytes) + ")"
	}
	for _, part := range []struct {
		n    int64
		what string
	}{
		{s.Unchanged, "unchanged"}, {s.Listed, "unchanged by their listings"}, {s.Repaired, "repaired"}, {s.Gone, "gone"}, {s.Attic, "moved to attic/"},
		{s.Failed, "failed"}, {s.Unreached, "not reached"}, {s.Excluded, "excluded"}, {s.Pending, "left"},
	} {
		if part.n > 0 {
			text += fmt.Sprintf(", %d %s", part.n, part.what)
		}
	}
	v.app.note("%s", text)
	for _, flag := range slices.Sorted(maps.Keys(v.overrides)) {
		v.app.note("refused by policy: %d; to allow: %s", v.overrides[flag], flag)
	}
	for _, over := range []struct {
		n, limit int64
		what     string
	}{
		{s.OverLinks, v.limits.Links, "links left out: %d; one page adds at most %d URLs (--max-links N)"},
		{s.OverEntries, v.limits.Entries, "entries left out: %d; one listing adds at most %d URLs (--max-entries N)"},
		{s.OverQueue, v.limits.Queue, "URLs left out: %d; the queue of one host holds at most %d (--max-queue N)"},
	} {
		if over.n > 0 {
			v.app.note(over.what, over.n, over.limit)
		}
	}
	if slices.Contains([]fetch.Fault{fetch.Canceled, fetch.DiskFull, fetch.TooLarge}, fetch.FaultOf(err)) {
		v.app.note("the same command continues")
	}
}

// sizeText writes a number of bytes for a person.
func sizeText(n int64) string {
	if n < 1<<10 {
		return fmt.Sprint(n, " bytes")
	}
	return fmt.Sprintf("% .1f", decor.SizeB1024(n))
}

// failed returns an error if the run that ended is complete except for some
// URLs, by whichever process they were visited.
func (v *view) failed(dir string, sum mirror.Summary) error {
	s, err := mirror.Status(v.app.ctx, dir)
	dead := s.States[mirror.Dead] + v.refused
	newly := sum.NewlyFailed + v.refused
	switch {
	case err != nil || dead+s.Unreached == 0:
		return err
	case v.maxFailed >= 0 && newly <= v.maxFailed:
		v.app.note("URLs that failed: %d, newly %d (--max-failed %d); %s lists them", dead+s.Unreached, newly, v.maxFailed, filepath.Join(dir, "failed.txt"))
		return nil
	case dead == 0:
		return fetch.Connect.Errorf("URLs that could not be reached: %d; the same command requests them again", s.Unreached)
	}
	return fetch.NotFound.Errorf("URLs that failed permanently: %d; fetch frontier dump --state dead,excluded %s lists them", dead, dir)
}
