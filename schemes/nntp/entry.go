package nntp

import (
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/rfc822"
	"github.com/anyurl/fetch/uri"
)

// A fieldReader reads the values of articles' fields into entries.
type fieldReader struct {
	namer
	keys []string // in Entry.Extra, as they come
	full []bool   // the value begins with its field's name
}

func newFieldReader(n namer, fields ...string) *fieldReader {
	r := &fieldReader{namer: n}
	for _, f := range fields {
		name, full := strings.CutSuffix(strings.ToLower(f), ":full")
		r.keys = append(r.keys, strings.ReplaceAll(strings.Trim(name, ":"), "-", "_"))
		r.full = append(r.full, full)
	}
	return r
}

// overview reads a line of OVER: the number and the fields, parted by TAB (RFC
// 3977 8.3.2).
func (r *fieldReader) overview(text string) fetch.Entry {
	number, rest, more := strings.Cut(text, "\t")
	e, ok := r.begin(number, text)
	if !ok {
		return info(text)
	}
	for i := 0; more && i < len(r.keys); i++ {
		var value string
		value, rest, more = strings.Cut(rest, "\t")
		if r.full[i] {
			_, value, _ = strings.Cut(value, ":")
		}
		r.set(&e, r.keys[i], strings.TrimSpace(value))
	}
	return r.end(e)
}

// field reads a line of HDR: the number, a space and the value (RFC 3977 8.5).
func (r *fieldReader) field(text string) fetch.Entry {
	number, value, _ := strings.Cut(text, " ")
	e, ok := r.begin(number, text)
	if !ok {
		return info(text)
	}
	r.set(&e, r.keys[0], strings.TrimSpace(value))
	e.Name = e.Extra[r.keys[0]]
	return r.end(e)
}

func (r *fieldReader) begin(number, text string) (fetch.Entry, bool) {
	n, ok := parseNumber(number)
	e := fetch.Entry{Kind: fetch.Document, Media: articleMedia, Size: -1, Raw: text, Extra: map[string]string{}}
	if n > 0 { // zero: the article was named by its message-id
		e.Extra["number"] = formatNumber(n)
	}
	return e, ok
}

// set gives e a value; an absent field has none. Words of RFC 2047 are decoded:
// Entry.Raw still has them as they came.
func (r *fieldReader) set(e *fetch.Entry, key, value string) {
	if value == "" || key == "" || key == "number" {
		return
	}
	value = rfc822.DecodeWords(value)
	e.Extra[key] = value
	switch key {
	case "subject":
		e.Name = value
	case "date":
		e.Time = rfc822.ParseDate(value)
	case "bytes":
		if n, err := strconv.ParseInt(value, 10, 64); err == nil && n >= 0 {
			e.Size = n
		}
	}
}

func (r *fieldReader) end(e fetch.Entry) fetch.Entry {
	if e.URL = r.article(e.Extra["number"], e.Extra["message_id"]); e.URL.IsZero() {
		e.Kind, e.Media = fetch.Info, ""
	}
	if e.Name == "" {
		e.Name = e.Extra["message_id"]
	}
	if strings.HasPrefix(e.Extra["message_id"], placeholderID) {
		e.Kind, e.Media, e.URL, e.Size = fetch.Info, "", uri.URI{}, -1
	}
	return e
}
