package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/mirror/frontier"
	"github.com/anyurl/fetch/uri"
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
}

func (a *app) newView(events bool) *view {
	return &view{app: a, bar: a.newCrawlBar(events), json: events, began: time.Now(), overrides: map[string]int64{}}
}

func (v *view) event(e mirror.Event) {
	if v.json {
		encode(v.app.stdout, e) // a reader that has gone ends us by the signal
	}
	refused := e.State == "excluded" && e.Via == "" && e.Code == 0 && e.Media == "" // typed, and never answered
	if refused {
		v.refused++
	}
	if _, known := v.overrides[e.Override]; e.Override != "" && (known || len(v.overrides) < maxOverrides) {
		v.overrides[e.Override]++
	}
	if v.app.flags.verbose || refused || e.State == "dead" || e.State == "cut" {
		v.say(about(e))
	}
}

// maxOverrides bounds how many flags a summary names.
const maxOverrides = 8

// about is what a person is told of a visit.
func about(e mirror.Event) string {
	what := e.State
	if e.Same {
		what += ", as it was"
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
	text := fmt.Sprintf("run %d, %v: %d new", s.Run, time.Since(v.began).Round(time.Second/10), s.New)
	if s.New > 0 {
		text += fmt.Sprintf(" of %d bytes", s.Bytes)
	}
	for _, part := range []struct {
		n    int64
		what string
	}{
		{s.Same, "as they were"}, {s.Gone, "gone"}, {s.Attic, "moved to attic/"}, {s.Failed, "failed"}, {s.Excluded, "excluded"}, {s.Left, "left"},
	} {
		if part.n > 0 {
			text += fmt.Sprintf(", %d %s", part.n, part.what)
		}
	}
	v.app.note("%s", text)
	for _, flag := range slices.Sorted(maps.Keys(v.overrides)) {
		v.app.note("refused by policy: %d; to allow: %s", v.overrides[flag], flag)
	}
	if slices.Contains([]fetch.Fault{fetch.Canceled, fetch.DiskFull, fetch.TooLarge}, fetch.FaultOf(err)) {
		v.app.note("the same command goes on")
	}
}

// failed is an error if the run that ended is complete but for some URLs, by
// whichever process they were visited.
func (v *view) failed(dir string) error {
	s, err := mirror.Status(v.app.ctx, dir)
	if n := s.States[frontier.Dead] + v.refused; err == nil && n > 0 {
		err = fetch.NotFound.Errorf("failed for good: %d; fetch frontier dump --state dead,excluded %s tells which", n, dir)
	}
	return err
}
