package dirlist

import (
	"strconv"
	"strings"
	"time"
)

// parseDate parses the date at the position i of fields. It returns the number
// of fields that belong to the date, or 0 if there is no date. Servers use
// their local time and do not state a time zone, so dates are interpreted as
// UTC.
//
//	Jan  1 12:00      Jan  1  2004      1 Jan 2004 12:00      2004-01-01 12:00
func parseDate(fields []field, i int, at time.Time) (time.Time, int) {
	word := func(n int) string {
		if i+n < len(fields) {
			return fields[i+n].text
		}
		return ""
	}
	if t, n := parseISODate(word(0), word(1), word(2)); n > 0 {
		return t, n
	}
	month, day := monthOf(word(0)), parseNumber(word(1), 31)
	if month == 0 {
		month, day = monthOf(word(1)), parseNumber(strings.TrimSuffix(word(0), "."), 31)
	}
	if month == 0 || day < 1 {
		return time.Time{}, 0
	}
	if h, m, ok := parseClock(word(2)); ok {
		return latestTime(month, day, h, m, at), 3
	}
	year := parseNumber(word(2), 9999)
	if len(word(2)) != 4 || year < 1900 {
		return time.Time{}, 0
	}
	t, ok := newDate(year, month, day, 0, 0)
	if !ok {
		return time.Time{}, 0
	}
	if h, m, ok := parseClock(word(3)); ok && i+4 < len(fields) {
		return t.Add(time.Duration(h)*time.Hour + time.Duration(m)*time.Minute), 4
	}
	return t, 3
}

// parseISODate parses a date such as "2004-01-01 12:00". GNU ls may append
// seconds and a time zone.
func parseISODate(day, hour, zone string) (time.Time, int) {
	// This check avoids most calls of time.Parse, which needs several
	// allocations for an error. Most dates are not ISO dates.
	if len(day) != len(time.DateOnly) || day[4] != '-' {
		return time.Time{}, 0
	}
	d, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return time.Time{}, 0
	}
	h, m, ok := parseClock(hour)
	if !ok {
		return d, 1
	}
	d = d.Add(time.Duration(h)*time.Hour + time.Duration(m)*time.Minute)
	if zone == "" || zone[0] != '+' && zone[0] != '-' {
		return d, 2
	}
	z, err := time.Parse("-0700", zone)
	if err != nil {
		return d, 2
	}
	_, offset := z.Zone()
	if d = d.Add(-time.Duration(offset) * time.Second); d.Year() < 0 || d.Year() > 9999 { // RFC 3339 cannot represent the year
		d = time.Time{}
	}
	return d, 3
}

// latestTime adds the year to a date without a year. It chooses the latest year
// for which the time is at most one day after at, the time of the listing. It
// returns the zero time if at is zero or if the date did not occur in the last
// eight years.
func latestTime(month time.Month, day, h, m int, at time.Time) time.Time {
	if at.IsZero() {
		return time.Time{}
	}
	for year := at.UTC().Year() + 1; year > at.UTC().Year()-9; year-- {
		t, ok := newDate(year, month, day, h, m)
		if ok && t.Before(at.Add(24*time.Hour)) {
			return t
		}
	}
	return time.Time{}
}

// newDate converts a date and time to a time.Time and reports whether the date
// is valid. Without this check, time.Date would convert 30 February to a day in
// March.
func newDate(year int, month time.Month, day, h, m int) (time.Time, bool) {
	t := time.Date(year, month, day, h, m, 0, 0, time.UTC)
	return t, t.Month() == month && t.Day() == day
}

func monthOf(s string) time.Month {
	if len(s) < 3 || len(s) > 9 {
		return 0
	}
	for m := time.January; m <= time.December; m++ {
		if strings.EqualFold(s, m.String()[:3]) || strings.EqualFold(s, m.String()) {
			return m
		}
	}
	return 0
}

// parseNumber parses a decimal number between 0 and limit. It returns -1 for
// any other text.
func parseNumber(s string, limit int) int {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n > uint64(limit) {
		return -1
	}
	return int(n)
}

// parseClock parses a time such as "12:00". It discards seconds.
func parseClock(s string) (h, m int, ok bool) {
	hour, minute, ok := strings.Cut(s, ":")
	minute, second, _ := strings.Cut(minute, ":")
	second, _, _ = strings.Cut(second, ".")
	h, m = parseNumber(hour, 23), parseNumber(minute, 59)
	return h, m, ok && h >= 0 && m >= 0 && len(minute) == 2 && (second == "" || parseNumber(second, 60) >= 0)
}
