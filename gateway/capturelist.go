package gateway

import (
	"context"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/format/render"
)

// capturesPage is the template data at the start of a list of captures.
type capturesPage struct {
	page
	URL      string
	Jump     string // the URL as the value of the form for a date
	Heading  string
	Calendar *calendarView
}

// captures sends the list of all captures of a URL, or of those in t.period.
func (x *exchange) captures(t target) {
	data := capturesPage{page: x.newPage("Captures", t.archive), URL: t.url.String(), Jump: t.url.Unredacted(), Heading: "All captures"}
	if !t.period.first.IsZero() {
		data.Heading = "Captures from " + t.period.first.Format(time.DateOnly) + " to " + t.period.last.Format(time.DateOnly)
	}
	if c, err := calendarOf(x.r.Context(), t); err == nil && c.all > 1 { // the list below reports the error
		data.Calendar = c.view(t)
	}
	rows, problem := 0, ""
	var previous fetch.Entry
	for e, err := range inPeriod(x.r.Context(), t) {
		if rows == 0 {
			if err != nil {
				x.missing(t, err)
				return
			}
			if !x.render("captures", data) || x.r.Method == "HEAD" {
				return
			}
		}
		if err != nil {
			problem = "The list is incomplete. " + problemText(err)
			break
		}
		rows++
		row := entryCapture(t, e)
		row.addChanges(t, previous, e)
		if !x.render("capturerow", row) {
			return
		}
		previous = e
	}
	if rows == 0 {
		x.missing(t, nil)
		return
	}
	x.render("endtable", problem)
}

// inPeriod iterates over the captures of t.url in t.period.
func inPeriod(ctx context.Context, t target) func(yield func(fetch.Entry, error) bool) {
	return func(yield func(fetch.Entry, error) bool) {
		for e, err := range t.archive.Source.Captures(ctx, t.url) {
			if err == nil && !t.period.first.IsZero() && t.period.distance(e.Time.UTC()) > 0 {
				continue
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// entryCapture returns the table row of a capture.
func entryCapture(t target, e fetch.Entry) captureRow {
	return captureRow{
		Date: render.FormatDate(e.Time), Path: t.archive.pathOf(e.Time.UTC().Format(timeForm), formPage, t.url),
		Media: tty.Escape(media.TrimParameters(e.Media)), Status: tty.Escape(e.Extra["status"]), Size: render.FormatSize(e.Size),
		Digest: tty.Escape(e.Extra["digest"]),
	}
}

// addChanges adds the link that compares a capture with the previous one in the
// list, if both are texts.
func (r *captureRow) addChanges(t target, previous, e fetch.Entry) {
	switch {
	case previous.Time.IsZero():
	case e.Extra["digest"] != "" && e.Extra["digest"] == previous.Extra["digest"]:
		r.Same = "none"
	case hasText(e.Media) && hasText(previous.Media) && !e.Time.Equal(previous.Time):
		r.Changes = t.comparePath(previous.Time.UTC().Format(timeForm), e.Time.UTC().Format(timeForm))
	}
}
