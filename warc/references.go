package warc

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
)

// What records say of one another is gathered as lines, which sorting brings
// together: key, kind, file, offset, record and payload digest, with NUL between
// them.
const (
	defined = "0" // the key is that of this record
	named   = "1" // another record's, which must exist
	outside = "2" // another record's, which may be in another archive
)

// pointers are the fields that name other records by identifier.
var pointers = [...]string{"WARC-Concurrent-To", "WARC-Warcinfo-ID", "WARC-Refers-To", "WARC-Segment-Origin-ID"}

// What is remembered of one record is bounded: the line of each pointer has the
// identifier of the record in it.
const (
	maxPointers = 1000
	maxShown    = 1 << 10 // bytes of the identifier
)

// note remembers what a record is called, and which it names.
func (v *Verifier) note(file string, h *Header) error {
	var err error
	clean := strings.NewReplacer("\x00", "", "\n", "")
	id := h.ID()
	rest := fmt.Sprintf("\x00%s\x00%d\x00%s", clean.Replace(file), h.Offset, clean.Replace(id[:min(len(id), maxShown)]))
	digest := h.Get("WARC-Payload-Digest")
	digest = clean.Replace(digest[:min(len(digest), maxShown)])
	left := maxPointers
	add := func(key, kind string) {
		if left--; err == nil && key != "" && left >= 0 {
			err = v.refs.Add([]byte(clean.Replace(key) + "\x00" + kind + rest + "\x00" + digest))
		}
	}
	add(h.ID(), defined)
	for _, field := range pointers {
		kind := named
		if field == "WARC-Refers-To" && h.Type() == Revisit {
			kind = outside
		}
		for _, id := range h.Fields.Values(field) {
			add(unbracket(id), kind)
		}
	}
	switch url := unbracket(h.Get("WARC-Refers-To-Target-URI")); {
	case h.Type() == Response, h.Type() == Resource:
		add(visit(h.Target(), h.Get("WARC-Date")), defined)
	case h.Type() == Revisit && url != "":
		add(visit(url, h.Get("WARC-Refers-To-Date")), outside)
	}
	return err
}

// visit is what replay looks for. No identifier has a space in it.
func visit(url, date string) string { return url + " " + date }

// References tells which identifiers several records have, and which are named
// and no record's. It is called once, after the last File.
func (v *Verifier) References() iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		var key string
		known := 0    // records that have it
		payload := "" // digest of the first of them
		for line, err := range v.refs.Sorted() {
			if err != nil {
				yield(Finding{}, local(err))
				return
			}
			part := strings.Split(strings.TrimSuffix(string(line), "\n"), "\x00")
			if part[0] != key {
				key, known, payload = part[0], 0, ""
			}
			f := Finding{File: part[2], ID: part[4]}
			f.Offset, _ = strconv.ParseInt(part[3], 10, 64)
			isVisit := strings.Contains(key, " ")
			switch {
			case part[1] == defined:
				if known++; known == 1 {
					payload = part[5]
				}
				if known == 1 || isVisit {
					continue
				}
				f.What, f.Text = Duplicate, fmt.Sprintf("%q is another record's too", key)
			case known > 0:
				same, ok := sameDigest(payload, part[5])
				if part[1] != outside || same || !ok || isVisit && known > 1 {
					continue
				}
				f.What, f.Text = PayloadDigest, fmt.Sprintf("revisit of %q: its payload is %q, not %q", key, payload, part[5])
			default:
				f.What, f.Note = Dangling, part[1] == outside
				f.Text = fmt.Sprintf("no record is %q", key)
			}
			if !yield(f, nil) {
				return
			}
		}
	}
}
