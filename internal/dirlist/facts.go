package dirlist

import (
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// TimeVal is the form of a time in MLSD, MLST and MDTM, always UTC; there may
// be a fraction (RFC 3659 2.3).
const TimeVal = "20060102150405"

// ParseTimeVal reads a time-val; a fraction counts to the second.
func ParseTimeVal(text string) (time.Time, bool) {
	text, fraction, _ := strings.Cut(text, ".")
	if len(text) != len(TimeVal) || strings.Trim(fraction, "0123456789") != "" {
		return time.Time{}, false
	}
	t, err := time.Parse(TimeVal, text)
	return t, err == nil
}

// ParseFacts reads a line of MLSD, or that of MLST without the space before
// it: facts, a space, and a name (RFC 3659 7.2). The Name of the entry is the
// bytes of the server, and it has no URL.
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
			r.fact(strings.ToLower(key), value)
		}
	}
	if r.Extra["type"] == "symlink" {
		r.Size = -1 // that of the link, where one is given
	}
	return r, true
}

// fact takes up one fact: RFC 3659 7.5.
func (r *row) fact(key, value string) {
	switch key {
	case "type":
		r.kind(value)
	case "size", "sizd": // sizd: the size of a directory
		if n, err := strconv.ParseInt(value, 10, 64); err == nil && n >= 0 && key == "size" {
			r.Size = n
			return
		}
		r.note(key, value)
	case "modify":
		if t, ok := ParseTimeVal(value); ok {
			r.Time = t
			return
		}
		r.note(key, value)
	default:
		r.note(key, value)
	}
}

// kind reads the fact type. Links have no standard form: proftpd says
// OS.unix=symlink, pure-ftpd and old ones OS.unix=slink:TARGET.
func (r *row) kind(value string) {
	switch lower := strings.ToLower(value); {
	case lower == "file":
		r.Kind = fetch.Document
	case lower == "dir":
		r.Kind = fetch.Menu
	case lower == "cdir", lower == "pdir":
		r.Kind = fetch.Info
		r.note("type", lower)
	case strings.HasPrefix(lower, "os.unix=slink"), lower == "os.unix=symlink":
		r.note("type", "symlink")
		if i := strings.IndexByte(value, ':'); i >= 0 {
			r.note("target", value[i+1:])
		}
	default:
		r.note("type", value)
	}
}
