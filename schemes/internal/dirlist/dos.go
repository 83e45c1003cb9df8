package dirlist

import (
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// parseDOS parses the output of the DOS command "dir", which IIS and similar
// servers send.
//
//	04-27-00  09:09PM       <DIR>          licensed
//	07-18-2000  10:16              589 readme.htm
func parseDOS(text string) (row, bool) {
	if len(text) < 8 || !isDigit(text[0]) {
		return row{}, false
	}
	fields := splitFields(text)
	if len(fields) < 4 {
		return row{}, false
	}
	t, ok := parseDOSDate(fields[0].text, fields[1].text)
	if !ok {
		return row{}, false
	}
	sizeField := 2
	if f := fields[2].text; strings.EqualFold(f, "AM") || strings.EqualFold(f, "PM") {
		if t, ok = parseDOSDate(fields[0].text, fields[1].text+f); !ok {
			return row{}, false
		}
		sizeField = 3
	}
	if len(fields) <= sizeField+1 {
		return row{}, false
	}
	r := row{Entry: fetch.Entry{Size: -1, Time: t, Kind: fetch.Document}}
	r.addExtra("clock", "server")
	mark := fields[sizeField].text
	r.Name = strings.TrimPrefix(text[fields[sizeField].end:], " ")
	switch {
	case strings.EqualFold(mark, "<DIR>"):
		r.Kind = fetch.Menu
		r.Name = strings.TrimLeft(r.Name, " ")
	case strings.HasPrefix(mark, "<") && strings.HasSuffix(mark, ">"): // <JUNCTION>, <SYMLINKD>
		r.Kind = fetch.Unknown
		r.Name = strings.TrimLeft(r.Name, " ")
		r.addExtra("type", strings.ToLower(strings.Trim(mark, "<>")))
	default:
		n, err := strconv.ParseInt(strings.ReplaceAll(mark, ",", ""), 10, 64)
		if err != nil || n < 0 {
			return row{}, false
		}
		r.Size = n
	}
	return r, r.Name != ""
}

// parseDOSDate parses a date in one of the orders month-day-year,
// day-month-year and year-month-day. If the first number exceeds 12, it is the
// day and the second number is the month.
func parseDOSDate(day, hour string) (time.Time, bool) {
	day = strings.NewReplacer("/", "-", ".", "-").Replace(day)
	parts := strings.Split(day, "-")
	if len(parts) != 3 {
		return time.Time{}, false
	}
	month, dom, year := parseNumber(parts[0], 31), parseNumber(parts[1], 31), parseNumber(parts[2], 9999)
	if len(parts[0]) == 4 {
		year, month, dom = parseNumber(parts[0], 9999), parseNumber(parts[1], 31), parseNumber(parts[2], 31)
	} else if month > 12 {
		month, dom = dom, month
	}
	switch {
	case year < 0 || month < 1 || month > 12:
		return time.Time{}, false
	case year < 70:
		year += 2000
	case year < 100:
		year += 1900
	}
	hour = strings.ToUpper(hour)
	pm := strings.HasSuffix(hour, "PM")
	h, m, ok := parseClock(strings.TrimSuffix(strings.TrimSuffix(hour, "PM"), "AM"))
	if pm || strings.HasSuffix(hour, "AM") {
		ok = ok && h >= 1 && h <= 12
		h %= 12
	}
	if pm {
		h += 12
	}
	t, valid := newDate(year, time.Month(month), dom, h, m)
	return t, ok && valid
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
