package autoindex

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/lazy"
)

// dates lists the date formats of listings. Each has a regular expression that
// finds a date, and layouts of package time that parse it.
var dates = []struct {
	form    func() *regexp.Regexp
	layouts []string
}{
	// nginx, Apache, lighttpd, busybox, mini_httpd
	{lazy.Regexp(`(?:\d{4}-\d\d-\d\d|\d\d-?[A-Z][a-z]{2}-?\d{4}|\d{4}-[A-Z][a-z]{2}-\d\d) \d\d:\d\d(?::\d\d)?`), []string{
		"2006-01-02 15:04", "2006-01-02 15:04:05", "02-Jan-2006 15:04", "02-Jan-2006 15:04:05",
		"2006-Jan-02 15:04", "2006-Jan-02 15:04:05", "02Jan2006 15:04",
	}},
	// weborf
	{lazy.Regexp(`[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d`), []string{"Mon, 02 Jan 2006 15:04:05"}},
	// IIS with English dates
	{lazy.Regexp(`\d{1,2}/\d{1,2}/\d{4} \d{1,2}:\d\d [AP]M`), []string{"1/2/2006 3:04 PM"}},
	// webfs and thttpd use the format of "ls -l". Recent dates have no year and
	// are ignored.
	{lazy.Regexp(`[A-Z][a-z]{2} \d{1,2} (?:\d{4}|\d\d:\d\d)`), []string{"Jan _2 2006", "Jan 02 2006", "Jan 2 2006"}},
}

// Regular expressions for a size after the date and for a size before the date.
var (
	sizeForm = lazy.Regexp(`^(\d+(?:\.\d+)?) ?([kKMGT]?)i?B?(?: |$)`)
	lastForm = lazy.Regexp(`(?:^| )(\d+(?:\.\d+)?) ?([kKMGT]?)i?B?$`)
)

// readDetail sets the date and the size of e from the text before or after a
// link. It reports whether the text contains a date. The words of the text must
// be separated by single spaces.
func readDetail(e *fetch.Entry, text string) bool {
	for _, d := range dates {
		at := d.form().FindStringIndex(text)
		if at == nil {
			continue
		}
		for _, layout := range d.layouts {
			if t, err := time.Parse(layout, text[at[0]:at[1]]); err == nil {
				e.Time = t
			}
		}
		m := sizeForm().FindStringSubmatch(strings.TrimPrefix(text[at[1]:], " "))
		if m == nil {
			m = lastForm().FindStringSubmatch(strings.TrimSuffix(text[:at[0]], " "))
		}
		setSize(e, m)
		return true
	}
	return false
}

func setSize(e *fetch.Entry, m []string) {
	if m == nil || e.Kind == fetch.Menu {
		return
	}
	size, unit := m[1], strings.ToUpper(m[2])
	if n, err := strconv.ParseInt(size, 10, 64); err == nil && unit == "" {
		e.Size = n
		return
	}
	e.Extra = map[string]string{"size": size + unit}
}
