package nntp

import (
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/rfc822"
	"github.com/anyurl/fetch/uri"
)

// A fieldParser converts lines of OVER and HDR responses to listing entries.
type fieldParser struct {
	urlBuilder
	keys     []string // keys in Entry.Extra, in the order of the fields
	prefixed []bool   // for each key, whether the value starts with the field name, as in "Xref: ..."
}

func newFieldParser(n urlBuilder, fields ...string) *fieldParser {
	r := &fieldParser{urlBuilder: n}
	for _, f := range fields {
		name, prefixed := strings.CutSuffix(strings.ToLower(f), ":full")
		r.keys = append(r.keys, strings.ReplaceAll(strings.Trim(name, ":"), "-", "_"))
		r.prefixed = append(r.prefixed, prefixed)
	}
	return r
}

// parseOverview parses a line of the response to OVER. The line contains the
// article number and the fields, separated by TAB (RFC 3977 8.3.2).
func (r *fieldParser) parseOverview(text string) fetch.Entry {
	number, rest, more := strings.Cut(text, "\t")
	e, ok := r.newEntry(number, text)
	if !ok {
		return infoEntry(text)
	}
	for i := 0; more && i < len(r.keys); i++ {
		var value string
		value, rest, more = strings.Cut(rest, "\t")
		if r.prefixed[i] {
			_, value, _ = strings.Cut(value, ":")
		}
		r.set(&e, r.keys[i], strings.TrimSpace(value))
	}
	return r.finish(e)
}

// parseField parses a line of the response to HDR. The line contains the
// article number, a space and the value of the field (RFC 3977 8.5).
func (r *fieldParser) parseField(text string) fetch.Entry {
	number, value, _ := strings.Cut(text, " ")
	e, ok := r.newEntry(number, text)
	if !ok {
		return infoEntry(text)
	}
	r.set(&e, r.keys[0], strings.TrimSpace(value))
	e.Name = e.Extra[r.keys[0]]
	return r.finish(e)
}

func (r *fieldParser) newEntry(number, text string) (fetch.Entry, bool) {
	n, ok := parseNumber(number)
	e := fetch.Entry{Kind: fetch.Document, Media: articleMedia, Size: -1, Raw: text, Extra: map[string]string{}}
	if n > 0 { // the number is 0 if the request contained a message-id
		e.Extra["number"] = formatNumber(n)
	}
	return e, ok
}

// set stores the value of a field in e and decodes its encoded words (RFC
// 2047). It ignores empty values.
func (r *fieldParser) set(e *fetch.Entry, key, value string) {
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

func (r *fieldParser) finish(e fetch.Entry) fetch.Entry {
	if e.URL = r.articleURL(e.Extra["number"], e.Extra["message_id"]); e.URL.IsZero() {
		e.Kind, e.Media = fetch.Info, ""
	}
	if e.Name == "" {
		e.Name = e.Extra["message_id"]
	}
	if strings.HasPrefix(e.Extra["message_id"], placeholderIDPrefix) {
		e.Kind, e.Media, e.URL, e.Size = fetch.Info, "", uri.URI{}, -1
	}
	return e
}
