package whoispp

import (
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/schemes/internal/textform"
	"github.com/anyurl/fetch/uri"
)

// isListing reports whether an answer contains handles or referrals instead of
// complete records.
func isListing(head []byte) bool {
	for l := range strings.Lines(string(head)) {
		if kind, _, ok := heading(l); ok {
			switch kind {
			case "HANDLE", "ABRIDGED", "SERVER-TO-ASK", "SERVERS-TO-ASK":
				return true
			}
		}
	}
	return false
}

// heading parses the first line of a record, such as "# FULL USER SERVER HANDLE".
func heading(l string) (kind string, words []string, ok bool) {
	rest, ok := strings.CutPrefix(l, "#")
	words = strings.Fields(rest)
	if !ok || len(words) == 0 {
		return "", nil, false
	}
	return strings.ToUpper(words[0]), words[1:], true
}

// A record is a parsed record of an answer.
type record struct {
	kind   string
	words  []string // template, server handle and local handle
	fields map[string]string
}

const maxFields = 100 // fields of a record that are parsed

// menu parses an answer and returns its records and referrals.
func menu(base uri.URI, _ string, r io.Reader) iter.Seq2[fetch.Entry, error] {
	return func(yield func(fetch.Entry, error) bool) {
		lines := line.NewReader(r)
		var rec *record
		for {
			text, _, err := lines.ReadLine(maxLine)
			if err != nil {
				if rec != nil && !yield(rec.entry(base)) {
					return
				}
				if err != io.EOF {
					yield(fetch.Entry{}, sessions.BlockFault(err))
				}
				return
			}
			kind, words, ok := heading(string(text))
			if !ok {
				rec.add(string(text))
				continue
			}
			if rec != nil && !yield(rec.entry(base)) {
				return
			}
			if rec = (&record{kind, words, map[string]string{}}); kind == "END" {
				rec = nil
			}
		}
	}
}

// add parses a line " NAME: VALUE" of a record.
func (r *record) add(text string) {
	name, value, ok := strings.Cut(text, ":")
	if r == nil || !ok || len(r.fields) >= maxFields {
		return
	}
	name = strings.ToLower(strings.TrimSpace(name))
	if _, again := r.fields[name]; !again && name != "" {
		r.fields[name] = strings.TrimSpace(value)
	}
}

// entry converts a record to a fetch.Entry. A referral leads to the same query
// on another server.
func (r *record) entry(base uri.URI) (e fetch.Entry, err error) {
	e = fetch.Entry{Name: tty.Escape(strings.Join(r.words, " ")), Kind: fetch.Info, Size: -1, Extra: map[string]string{"type": strings.ToLower(tty.Escape(r.kind))}}
	switch r.kind {
	case "SERVER-TO-ASK", "SERVERS-TO-ASK":
		return r.referral(base, e), nil
	}
	if len(r.words) != 3 {
		return e, nil
	}
	e.Extra["template"], e.Extra["server"] = tty.Escape(r.words[0]), tty.Escape(r.words[1])
	handle := r.words[2]
	e.Name = tty.Escape(handle)
	if u, err := base.WithoutFragment().WithPath("/handle=" + uri.Escape(handle, uri.Segment)); err == nil && !textform.HasControl(handle) {
		e.URL, e.Kind, e.Media = u, fetch.Document, recordMedia
	}
	return e, nil
}

// referral adds the URL of a referral to its entry e. The fields HOST-NAME and
// HOST-PORT name the other server.
func (r *record) referral(base uri.URI, e fetch.Entry) fetch.Entry {
	host := r.fields["host-name"]
	e.Name = tty.Escape(r.fields["server-handle"])
	if e.Name == "" {
		e.Name = tty.Escape(host)
	}
	number, err := strconv.ParseUint(r.fields["host-port"], 10, 16)
	if r.fields["host-port"] == "" {
		number, err = port, nil
	}
	if err != nil || number == 0 {
		return e
	}
	text := "whois++://" + host
	if number != port {
		text += ":" + strconv.FormatUint(number, 10)
	}
	u, err := uri.Parse(text + base.Path())
	if err == nil {
		_, err = fetch.TargetOf(u, port)
	}
	_, user := u.Userinfo()
	if err != nil || u.Host() == "" || user || u.Path() != base.Path() {
		return e
	}
	e.URL, e.Kind = u, fetch.Unknown
	return e
}
