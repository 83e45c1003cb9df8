package warc

import (
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// The verifier stores each reference between records as a line and sorts the
// lines, so that lines with the same key are adjacent. A line consists of the
// key, kind, file, offset, record ID, payload digest and date, separated by NUL.
// Only references by URL have a date. The kind is one of these constants.
const (
	refDefined  = "0" // the key identifies this record
	refRequired = "1" // the key identifies another record, which must exist in these files
	refExternal = "2" // the key identifies the original of a revisit record, which can be in other files
	refOptional = "3" // the key identifies another record, which can be in other files
)

// referenceFields lists the header fields that contain IDs of other records
// (WARC 1.1 section 5).
var referenceFields = [...]string{"WARC-Concurrent-To", "WARC-Warcinfo-ID", "WARC-Refers-To", "WARC-Segment-Origin-ID"}

// Limits for the references of one record. The ID and digest of the record are
// shortened, because each reference contains them.
const (
	maxReferences = 1000
	maxShown      = 1 << 10 // maximum length of the ID and of the digest, in bytes
)

// delimiters removes the bytes that separate stored lines and their parts.
var delimiters = strings.NewReplacer("\x00", "", "\n", "")

// addReferences stores the keys of a record and the keys of the records to
// which it refers. The parameter kind is the kind of references to records that
// a file of a complete archive contains.
func (v *verifier) addReferences(file string, h *Header, kind string) error {
	var err error
	id := h.ID()
	shownID := delimiters.Replace(id[:min(len(id), maxShown)])
	suffix := fmt.Sprintf("\x00%s\x00%d\x00%s", delimiters.Replace(file), h.Offset, shownID)
	shorten := func(text string) string { return delimiters.Replace(text[:min(len(text), maxShown)]) }
	digest := shorten(h.Get("WARC-Payload-Digest"))
	remaining := maxReferences
	addLine := func(key, kind, digest, date string) {
		if remaining--; err == nil && key != "" && remaining >= 0 {
			err = fetch.LocalError(v.refs.Add([]byte(delimiters.Replace(key) + "\x00" + kind + suffix + "\x00" + digest + "\x00" + date)))
		}
	}
	add := func(key, kind string) { addLine(key, kind, digest, "") }
	addVisit := func(url, date, kind, digest string) { addLine(visitKey(url, date), kind, digest, shorten(date)) }
	add(h.ID(), refDefined)
	for _, field := range referenceFields {
		kind := kind
		if field == "WARC-Refers-To" && h.Type() == Revisit {
			kind = refExternal
		}
		for _, id := range h.Fields.Values(field) {
			add(trimBrackets(id), kind)
		}
	}
	switch url := trimBrackets(h.Get("WARC-Refers-To-Target-URI")); {
	case h.Type() == Response, h.Type() == Resource:
		addVisit(h.Target(), h.Get("WARC-Date"), refDefined, digest)
	case h.Type() == Revisit && url != "":
		if h.Get("WARC-Refers-To") != "" {
			digest = "" // it is compared with the digest of the record with this ID
		}
		addVisit(url, h.Get("WARC-Refers-To-Date"), refExternal, digest)
	}
	return err
}

// visitKey returns a key for the capture of url at the given date. It drops
// fractions of a second, because a date from an index has whole seconds. The
// key differs from all record IDs, because IDs contain no spaces.
func visitKey(url, date string) string {
	if whole, _, ok := strings.Cut(date, "."); ok {
		date = whole + "Z"
	}
	return url + " " + date
}

// differ reports whether two digests of the same algorithm have different values.
func differ(a, b string) bool {
	same, ok := sameDigest(a, b)
	return ok && !same
}

// references reports duplicate record IDs and references to missing records. It
// must be called once, after all files are verified.
func (v *verifier) references() iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		var key string
		var payload, date string // of the first record with this key
		records := 0
		for line, err := range v.refs.Sorted() {
			if err != nil {
				yield(Finding{}, fetch.LocalError(err))
				return
			}
			part := strings.Split(strings.TrimSuffix(string(line), "\n"), "\x00")
			if part[0] != key {
				key, records, payload, date = part[0], 0, "", ""
			}
			f := Finding{File: part[2], ID: part[4]}
			f.Offset, _ = strconv.ParseInt(part[3], 10, 64)
			isVisit := strings.Contains(key, " ")
			switch {
			case part[1] == refDefined:
				if records++; records == 1 {
					payload, date = part[5], part[6]
				}
				if records == 1 || isVisit {
					continue
				}
				f.Problem, f.Text = DuplicateID, fmt.Sprintf("another record also has the ID %q", key)
			case records > 0 && (part[1] != refExternal || isVisit && records > 1 || !differ(payload, part[5])):
				continue
			case records > 0 && parseDate(date).Equal(parseDate(part[6])):
				f.Problem = BadPayloadDigest
				f.Text = fmt.Sprintf("the original record %q has the payload digest %q, but the revisit has %q",
					key, payload, part[5])
			default: // also if only a capture of the same second has another digest
				f.Problem, f.Note = DanglingReference, part[1] != refRequired
				f.Text = fmt.Sprintf("the record refers to %q, but there is no such record", key)
			}
			if !yield(f, nil) {
				return
			}
		}
	}
}
