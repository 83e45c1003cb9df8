package dirlist

import (
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// TimeVal is the time format of MLSD, MLST and MDTM (RFC 3659 section 2.3).
// Times are in UTC. Servers may append a fraction of a second.
const TimeVal = "20060102150405"

// ParseTimeVal parses a time in the format [TimeVal]. It discards a fraction of
// a second.
func ParseTimeVal(text string) (time.Time, bool) {
	text, fraction, _ := strings.Cut(text, ".")
	if len(text) != len(TimeVal) || strings.Trim(fraction, "0123456789") != "" {
		return time.Time{}, false
	}
	t, err := time.Parse(TimeVal, text)
	return t, err == nil
}

// ParseFacts parses a line of MLSD, or a line of MLST without its leading space
// (RFC 3659 section 7.2). The line contains facts, a space and a name. The Name
// of the Entry contains the bytes that the server sent. The Entry has no URL.
func ParseFacts(text string) (fetch.Entry, bool) {
	r, ok := parseFacts(text)
	r.Raw = text
	return r.Entry, ok
}

func parseFacts(text string) (row, bool) {
	list, name, ok := strings.Cut(text, " ")
	if !ok || name == "" || list != "" && !strings.HasSuffix(list, ";") {
		return row{}, false
	}
	r := row{Entry: fetch.Entry{Name: name, Size: -1}}
	for fact := range strings.SplitSeq(list, ";") {
		if key, value, ok := strings.Cut(fact, "="); ok && key != "" {
			r.setFact(strings.ToLower(key), value)
		}
	}
	if r.Extra["type"] == "symlink" {
		r.Size = -1 // the size would be the size of the link itself
	}
	return r, true
}

// setFact stores the value of an MLSD fact, such as "size" (RFC 3659 section
// 7.5).
func (r *row) setFact(key, value string) {
	switch key {
	case "type":
		r.setKind(value)
	case "size", "sizd": // sizd is the size of a directory
		if n, err := strconv.ParseInt(value, 10, 64); err == nil && n >= 0 && key == "size" {
			r.Size = n
			return
		}
		r.addExtra(key, value)
	case "modify":
		if t, ok := ParseTimeVal(value); ok {
			r.Time = t
			return
		}
		r.addExtra(key, value)
	default:
		r.addExtra(key, value)
	}
}

// setKind stores the value of the MLSD fact "type". The value for symbolic
// links is not standardized. proftpd sends OS.unix=symlink. pure-ftpd and older
// servers send OS.unix=slink:TARGET.
func (r *row) setKind(value string) {
	switch lower := strings.ToLower(value); {
	case lower == "file":
		r.Kind = fetch.Document
	case lower == "dir":
		r.Kind = fetch.Menu
	case lower == "cdir", lower == "pdir":
		r.Kind = fetch.Info
		r.addExtra("type", lower)
	case strings.HasPrefix(lower, "os.unix=slink"), lower == "os.unix=symlink":
		r.addExtra("type", "symlink")
		if i := strings.IndexByte(value, ':'); i >= 0 {
			r.addExtra("target", value[i+1:])
		}
	default:
		r.addExtra("type", value)
	}
}
