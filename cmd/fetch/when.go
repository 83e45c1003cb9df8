package main

import (
	"os"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// dateForms are those of RFC 9110 5.6.7 and what curl's users write.
var dateForms = []string{
	time.RFC1123, time.RFC1123Z, time.RFC850, time.ANSIC, time.RFC3339, time.RFC822, time.RFC822Z, time.UnixDate,
	"Mon, 2 Jan 2006 15:04:05 MST", "2 Jan 2006 15:04:05 MST", "2 Jan 2006 15:04:05", "2 Jan 2006", "Jan 2 15:04:05 2006 MST",
	"Jan 2 2006 15:04:05 MST", "Jan 2 15:04:05 2006", "Jan 2 2006", "2006-01-02 15:04:05 MST", "2006-01-02 15:04:05", "2006-01-02",
	"20060102 15:04:05", "20060102",
}

// condition puts the time of -z into req: a date, or that of a file; with - in
// front the object is wanted only if it is older.
func condition(req *fetch.Request, text string) error {
	if text == "" {
		return nil
	}
	text, before := strings.CutPrefix(strings.TrimPrefix(text, "+"), "-")
	at, ok := parseDate(text)
	if !ok {
		info, err := os.Stat(text)
		if err != nil {
			req.Trace.Notef("-z %s is neither a date nor a file: no condition", text)
			return nil
		}
		at = info.ModTime()
	}
	if before {
		req.Before = at
	} else {
		req.Since = at
	}
	return nil
}

func parseDate(text string) (time.Time, bool) {
	text = strings.Join(strings.Fields(text), " ")
	for _, form := range dateForms {
		if t, err := time.Parse(form, text); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}
