package autoindex

import (
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// dates lists the date formats of listings: the shapes of a date, and layouts of
// package time that parse it.
var dates = []struct {
	shapes  []shape
	layouts []string
}{
	// nginx, Apache, lighttpd, busybox, mini_httpd
	{[]shape{
		"9999-99-99 99:99:99", "9999-99-99 99:99", "99-?Aaa-?9999 99:99:99", "99-?Aaa-?9999 99:99",
		"9999-Aaa-99 99:99:99", "9999-Aaa-99 99:99",
	}, []string{
		"2006-01-02 15:04", "2006-01-02 15:04:05", "02-Jan-2006 15:04", "02-Jan-2006 15:04:05",
		"2006-Jan-02 15:04", "2006-Jan-02 15:04:05", "02Jan2006 15:04",
	}},
	// weborf
	{[]shape{"Aaa, 99 Aaa 9999 99:99:99"}, []string{"Mon, 02 Jan 2006 15:04:05"}},
	// IIS with English dates
	{[]shape{"99?/99?/9999 99?:99 PM"}, []string{"1/2/2006 3:04 PM"}},
	// webfs and thttpd use the format of "ls -l". Recent dates have no year and
	// are ignored.
	{[]shape{"Aaa 99? 9999", "Aaa 99? 99:99"}, []string{"Jan _2 2006", "Jan 02 2006", "Jan 2 2006"}},
}

// readDetail sets the date and the size of e from the text before or after a
// link. It reports whether the text contains a date. The words of the text must
// be separated by single spaces.
func readDetail(e *fetch.Entry, text string) bool {
	for _, d := range dates {
		start, end, ok := findAny(d.shapes, text)
		if !ok {
			continue
		}
		for _, layout := range d.layouts {
			if t, err := time.Parse(layout, text[start:end]); err == nil {
				e.Time = t
			}
		}
		number, unit, ok := sizeAfter(strings.TrimPrefix(text[end:], " "))
		if !ok {
			number, unit, ok = sizeBefore(strings.TrimSuffix(text[:start], " "))
		}
		if ok {
			setSize(e, number, strings.ToUpper(unit))
		}
		return true
	}
	return false
}

func setSize(e *fetch.Entry, number, unit string) {
	if e.Kind == fetch.Menu {
		return
	}
	if n, err := strconv.ParseInt(number, 10, 64); err == nil && unit == "" {
		e.Size = n
		return
	}
	e.Extra = map[string]string{"size": number + unit}
}

// sizeAfter returns the size at the start of the text after a date. A space or
// the end of the text must follow.
func sizeAfter(text string) (number, unit string, ok bool) {
	number, unit, n := parseSize(text)
	switch {
	case number == "":
		return "", "", false
	case n == len(text) || text[n] == ' ':
		return number, unit, true
	}
	return number, "", text[len(number)] == ' ' // a word that is no unit
}

// sizeBefore returns the size at the end of the text before a date.
func sizeBefore(text string) (number, unit string, ok bool) {
	for word := text; ; {
		if number, unit, n := parseSize(word); number != "" && n == len(word) {
			return number, unit, true
		}
		if _, word, ok = strings.Cut(word, " "); !ok {
			return "", "", false
		}
	}
}

// parseSize parses a size such as "12", "1.5 KiB" or "3M" at the start of text,
// and returns its length.
func parseSize(text string) (number, unit string, n int) {
	n = digits(text)
	if n == 0 {
		return "", "", 0
	}
	if n < len(text) && text[n] == '.' {
		if m := digits(text[n+1:]); m > 0 {
			n += 1 + m
		}
	}
	number = text[:n]
	optional := func(set string) (c string) {
		if n < len(text) && strings.IndexByte(set, text[n]) >= 0 {
			c = text[n : n+1]
			n++
		}
		return c
	}
	optional(" ")
	unit = optional("kKMGT")
	optional("i")
	optional("B")
	return number, unit, n
}

// digits returns the number of digits at the start of text.
func digits(text string) (n int) {
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	return n
}
