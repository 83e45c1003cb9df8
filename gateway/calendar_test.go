package gateway

import (
	"fmt"
	"testing"
	"time"

	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// TestCalendar checks the months of a calendar: their weeks, the links of days,
// and the statuses.
func TestCalendar(t *testing.T) {
	u, err := uri.Parse("http://a.example/")
	if err != nil {
		t.Fatal(err)
	}
	list := func(days ...string) (lines []warc.Line) {
		for _, day := range days {
			lines = append(lines, warc.Line{Timestamp: day[:14], Status: day[14:]})
		}
		return lines
	}
	for _, c := range []struct {
		name   string
		lines  []warc.Line
		months string // name, and the cells with captures: week, column, number, class, count
	}{
		{"29 February, a Thursday", list("20240229120000200"), "February 2024: 4 3 29 s2 1 /a/20240229120000/http://a.example/\n"},
		{"month that begins on Sunday", list("20230101000000404", "20230131235959-"),
			"January 2023: 0 6 1 s4 1 /a/20230101000000/http://a.example/; 5 1 31 s2 1 /a/20230131235959/http://a.example/\n"},
		{"several captures on a day", list("20230105000000302", "20230105000001200", "20230105000002503"),
			"January 2023: 1 3 5 s2 mixed 3 /a/20230105*/http://a.example/\n"},
		{"unchanged object, which is no redirect", list("20230105000000200", "20230105000001304"),
			"January 2023: 1 3 5 s2 2 /a/20230105*/http://a.example/\n"},
		{"redirect and unchanged object", list("20230105000000301", "20230105000001304"),
			"January 2023: 1 3 5 s3 mixed 2 /a/20230105*/http://a.example/\n"},
		{"months without captures", list("20230105000000200", "20230305000000200"),
			"January 2023: 1 3 5 s2 1 /a/20230105000000/http://a.example/\nMarch 2023: 0 6 5 s2 1 /a/20230305000000/http://a.example/\n"},
		{"last day before 1970", list("19691231120000200"), "December 1969: 4 2 31 s2 1 /a/19691231120000/http://a.example/\n"},
		{"only the last year", list("19991231000000200", "20230305000000200"), "March 2023: 0 6 5 s2 1 /a/20230305000000/http://a.example/\n"},
	} {
		cal := &calendar{days: map[int64]*dayStatuses{}}
		for _, l := range c.lines {
			cal.add(l)
		}
		got := ""
		for _, m := range cal.view(target{archive: &collection{path: "/a/"}, url: u}).Months {
			got += m.Name + ":"
			separator := " "
			for w, week := range m.Weeks {
				for column, d := range week {
					if d.Path != "" {
						got += fmt.Sprint(separator, w, " ", column, " ", d.Number, " ", d.Class, " ", d.Count, " ", d.Path)
						separator = "; "
					}
				}
			}
			got += "\n"
		}
		if got != c.months {
			t.Errorf("%s:\ngot  %swant %s", c.name, got, c.months)
		}
	}
}

// TestCalendarLabel checks the statuses of a day in words.
func TestCalendarLabel(t *testing.T) {
	cal := &calendar{days: map[int64]*dayStatuses{}}
	for _, status := range []string{"200", "304", "302", "304", "-", "500"} {
		cal.add(warc.Line{Timestamp: "20230105000000", Status: status})
	}
	months := cal.view(target{archive: &collection{path: "/a/"}, url: uri.MustParse("http://a.example/")}).Months
	if got, want := months[0].Weeks[1][3].Label, "2023-01-05: 2 complete, 1 redirects, 1 server errors, 2 not modified"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestCalendarLimit checks that the number of days in memory is limited.
func TestCalendarLimit(t *testing.T) {
	cal := &calendar{days: map[int64]*dayStatuses{}}
	for i := range int64(2 * maxDays) {
		cal.add(warc.Line{Timestamp: time.Unix(i*24*60*60, 0).UTC().Format(timeForm)})
	}
	if len(cal.days) != maxDays {
		t.Errorf("%d days, want %d", len(cal.days), maxDays)
	}
}
