package options

import (
	"strings"
	"time"
)

// dateForms are the date formats of RFC 9110 5.6.7 and other formats that curl
// accepts.
var dateForms = []string{
	time.RFC1123, time.RFC1123Z, time.RFC850, time.ANSIC, time.RFC3339, time.RFC822, time.RFC822Z, time.UnixDate,
	"Mon, 2 Jan 2006 15:04:05 MST", "2 Jan 2006 15:04:05 MST", "2 Jan 2006 15:04:05", "2 Jan 2006",
	"Jan 2 15:04:05 2006 MST",
	"Jan 2 2006 15:04:05 MST", "Jan 2 15:04:05 2006", "Jan 2 2006", "2006-01-02 15:04:05 MST",
	"2006-01-02 15:04:05", "2006-01-02",
	"20060102 15:04:05", "20060102",
}

// ParseDate parses a date in one of many formats. Without a time zone, the zone
// is UTC.
func ParseDate(text string) (time.Time, bool) {
	text = strings.Join(strings.Fields(text), " ")
	for _, form := range dateForms {
		if t, err := time.Parse(form, text); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}
