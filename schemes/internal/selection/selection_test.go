package selection

import (
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
)

func TestExcludes(t *testing.T) {
	at := func(day int) time.Time {
		if day == 0 {
			return time.Time{}
		}
		return time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC)
	}
	for _, c := range []struct {
		name          string
		ifNot         string
		since, before int // days; 0: no condition
		validator     string
		modified      int // day; 0: unknown
		want          bool
	}{
		{name: "no conditions", validator: "a", modified: 2},
		{name: "same validator", ifNot: "a", validator: "a", modified: 2, want: true},
		{name: "same validator, unknown time", ifNot: "a", validator: "a", want: true},
		{name: "other validator", ifNot: "a", validator: "b", modified: 2},
		{name: "unknown validator", ifNot: "a", modified: 2},
		{name: "no condition and no validator"},
		{name: "changed before Since", since: 3, modified: 2, want: true},
		{name: "changed at Since", since: 2, modified: 2, want: true},
		{name: "changed after Since", since: 1, modified: 2},
		{name: "unknown time with Since", since: 1},
		{name: "changed after Before", before: 1, modified: 2, want: true},
		{name: "changed at Before", before: 2, modified: 2},
		{name: "unknown time with Before", before: 1},
		{name: "between Since and Before", since: 1, before: 3, modified: 2},
		{name: "the validator differs, but the time excludes", ifNot: "a", since: 3, validator: "b", modified: 2, want: true},
	} {
		req := &fetch.Request{IfNot: c.ifNot, Since: at(c.since), Before: at(c.before)}
		if got := Excludes(req, c.validator, at(c.modified)); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestBounds(t *testing.T) {
	for _, c := range []struct {
		name       string
		r          fetch.Range
		ifSame     string
		first, end int64
		err        string
	}{
		{"no range", fetch.Range{}, "", 0, 10, ""},
		{"from an offset", fetch.Range{First: 4}, "", 4, 10, ""},
		{"from the end", fetch.Range{First: -4}, "", 6, 10, ""},
		{"at the end", fetch.Range{First: 10}, "", 10, 10, ""},
		{"at the end, ends earlier", fetch.Range{First: 10, End: 3}, "", 10, 10, ""},
		{"behind the end", fetch.Range{First: 11}, "", 0, 0, "server-perm: range starts at byte 11, but the file has 10 bytes"},
		{"same object", fetch.Range{First: 4}, "a", 4, 10, ""},
		{"changed object", fetch.Range{First: 4}, "b", 0, 10, ""},
		{"changed object is shorter", fetch.Range{First: 11}, "b", 0, 10, ""},
	} {
		first, end, err := Bounds(&fetch.Request{Range: c.r, IfSame: c.ifSame}, "a", 10, "file")
		if first != c.first || end != c.end || c.err == "" && err != nil || c.err != "" && (err == nil || fetch.FaultOf(err).String()+": "+err.Error() != c.err) {
			t.Errorf("%s: %d, %d, %v", c.name, first, end, err)
		}
	}
}

func TestIgnoreRange(t *testing.T) {
	var notes []string
	req := &fetch.Request{Trace: &trace.Trace{Note: func(text string) { notes = append(notes, text) }}}
	IgnoreRange(req, "x")
	req.Range.End = 1
	IgnoreRange(req, "x")
	if len(notes) != 1 || notes[0] != "x does not support ranges: fetching the complete object" {
		t.Errorf("notes: %q", notes)
	}
}
