package gateway

import (
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/warc"
)

// A calendar counts the captures of a URL for each day. The statuses of a day
// are counted by their classes.
type calendar struct {
	days map[int64]*dayStatuses // by the number of days since 1970
	all  int64
}

type dayStatuses struct {
	captures  int64
	timestamp string // of the first capture of the day
	classes   [len(statusNames)]int64
}

// calendarOf counts the captures of t.url. It reads only the index, and ignores
// captures of further days after maxDays different days.
func calendarOf(ctx context.Context, t target) (*calendar, error) {
	c := &calendar{days: map[int64]*dayStatuses{}}
	for l, err := range t.archive.lines(ctx, t.url) {
		if err != nil {
			return nil, err
		}
		c.add(l)
	}
	return c, nil
}

func (c *calendar) add(l warc.Line) {
	at, ok := parseTimestamp(l.Timestamp)
	key := dayOf(at)
	if !ok || c.days[key] == nil && len(c.days) == maxDays {
		return
	}
	d := c.days[key]
	if d == nil {
		d = &dayStatuses{timestamp: l.Timestamp}
		c.days[key] = d
	}
	d.timestamp = min(d.timestamp, l.Timestamp)
	d.captures++
	d.classes[statusClass(l.Status)]++
	c.all++
}

// notModified is the class of the status 304. It is no redirect: the object is the
// same as in an earlier capture.
const notModified = 6

// statusClass returns the first digit of an HTTP status, or notModified. Other
// statuses count as success, because the archive has a capture.
func statusClass(status string) int {
	if status == "304" {
		return notModified
	}
	if len(status) == 3 && status[0] >= '2' && status[0] <= '5' {
		return int(status[0] - '0')
	}
	return 2
}

// statusNames describes the classes of statuses.
var statusNames = [...]string{2: "complete", 3: "redirects", 4: "client errors", 5: "server errors", notModified: "not modified"}

// A calendarView is the template data of a calendar.
type calendarView struct {
	Years  []yearLink
	Months []monthView
}

type yearLink struct {
	Year    int
	Count   int64
	Path    string
	Current bool
}

type monthView struct {
	Name  string // such as "January 2024"
	Path  string // list of the captures of the month
	Weeks [][7]dayView
}

// A dayView is a cell of a month. Its Number is 0 outside the month.
type dayView struct {
	Number int
	Path   string // of the capture, or of the list of all captures of the day
	Class  string // status class: "s2" to "s5", or "s2 mixed"
	Label  string // date, number of captures and statuses
	Count  int64
}

// view returns the calendar of the year that t selects. Without a year, it is
// the year of the last capture. Months without captures are left out.
func (c *calendar) view(t target) *calendarView {
	keys := slices.Sorted(maps.Keys(c.days))
	if len(keys) == 0 {
		return nil
	}
	year := dateOf(keys[len(keys)-1]).Year()
	if !t.period.first.IsZero() {
		year = t.period.first.Year()
	}
	v := &calendarView{}
	for _, key := range keys {
		at := dateOf(key)
		if n := len(v.Years); n == 0 || v.Years[n-1].Year != at.Year() {
			v.Years = append(v.Years, yearLink{Year: at.Year(), Path: t.listPath(at.Format("2006")), Current: at.Year() == year})
		}
		v.Years[len(v.Years)-1].Count += c.days[key].captures
		if at.Year() != year {
			continue
		}
		name := at.Format("January 2006")
		if n := len(v.Months); n == 0 || v.Months[n-1].Name != name {
			v.Months = append(v.Months, newMonth(at, t))
		}
		v.Months[len(v.Months)-1].set(at, c.days[key], t)
	}
	return v
}

// dayOf returns the number of days from 1970 to the day of at, which is negative
// for earlier days.
func dayOf(at time.Time) int64 { return int64(math.Floor(float64(at.Unix()) / (24 * 60 * 60))) }

// dateOf returns the start of the day that dayOf has numbered.
func dateOf(key int64) time.Time { return time.Unix(key*24*60*60, 0).UTC() }

// listPath returns the path of the list of all captures of a period, such as
// "2024".
func (t target) listPath(digits string) string {
	return t.archive.path + digits + "*/" + t.url.Unredacted()
}

// newMonth returns the month of a date, with numbers for all days. Weeks begin on
// Monday.
func newMonth(at time.Time, t target) monthView {
	first := time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
	m := monthView{Name: at.Format("January 2006"), Path: t.listPath(at.Format("200601"))}
	column := weekday(first)
	for day := first; day.Month() == at.Month(); day = day.AddDate(0, 0, 1) {
		if len(m.Weeks) == 0 || column == 7 {
			m.Weeks = append(m.Weeks, [7]dayView{})
			column %= 7
		}
		m.Weeks[len(m.Weeks)-1][column] = dayView{Number: day.Day()}
		column++
	}
	return m
}

func weekday(at time.Time) int { return (int(at.Weekday()) + 6) % 7 }

// set adds the captures of a day to its month.
func (m *monthView) set(at time.Time, d *dayStatuses, t target) {
	cell := &m.Weeks[(at.Day()-1+weekday(at.AddDate(0, 0, 1-at.Day())))/7][weekday(at)]
	cell.Count, cell.Path = d.captures, t.archive.pathOf(d.timestamp, formPage, t.url)
	if d.captures > 1 {
		cell.Path = t.listPath(at.Format("20060102"))
	}
	var words []string
	for class, n := range d.classes {
		if n > 0 {
			words = append(words, strconv.FormatInt(n, 10)+" "+statusNames[class])
			style := "s" + strconv.Itoa(class)
			if class == notModified {
				style = "s2"
			}
			if cell.Class == "" {
				cell.Class = style
			} else if cell.Class != style && !strings.HasSuffix(cell.Class, " mixed") {
				cell.Class += " mixed"
			}
		}
	}
	cell.Label = at.Format(time.DateOnly) + ": " + strings.Join(words, ", ")
}
