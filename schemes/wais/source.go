package wais

import (
	"bytes"
	"io"
	"iter"
	"mime"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/schemes/internal/textform"
	"github.com/anyurl/fetch/uri"
)

// menu parses the results of a search as entries, or the description of a
// database as one entry.
func menu(base uri.URI, media string, r io.Reader) iter.Seq2[fetch.Entry, error] {
	if name, _, _ := mime.ParseMediaType(media); name != sourceMedia {
		return entries.Menu(base, media, r)
	}
	return func(yield func(fetch.Entry, error) bool) {
		text, err := io.ReadAll(io.LimitReader(r, maxSource+1))
		switch {
		case err != nil:
		case len(text) > maxSource:
			err = fetch.Protocol.Errorf("the description of the database has more than %d bytes", maxSource)
		default:
			var s source
			if s, err = parseSource(text); err == nil {
				yield(s.entry(base))
				return
			}
		}
		yield(fetch.Entry{}, err)
	}
}

// A source holds the fields of a WAIS source file, which describes a database.
// Names have no colon. A list is stored as its words, and other values as the
// bytes of the file.
type source []fetch.Field

// header returns the fields with their values converted to UTF-8.
func (s source) header() (h fetch.Header) {
	for _, f := range s {
		h = append(h, fetch.Field{Name: f.Name, Value: textform.UTF8(f.Value)})
	}
	return h
}

func (s source) get(name string) string { return fetch.Header(s).Get(name) }

// entry returns a listing entry for the described database. If the description
// has no host, the database is on the server that sent the description.
func (s source) entry(base uri.URI) (fetch.Entry, error) {
	name := s.get("database-name")
	if name == "" {
		return fetch.Entry{}, fetch.Protocol.Errorf("the description names no database")
	}
	p := uri.Parts{Scheme: "wais", HasAuthority: true, Host: s.get("ip-name"), Path: "/" + uri.Escape(name, uri.Unreserved)}
	if p.Host == "" {
		p.Host = s.get("ip-address")
	}
	if n, err := strconv.ParseUint(s.get("tcp-port"), 10, 16); err == nil && n != port {
		p.Port = strconv.FormatUint(n, 10)
	}
	if p.Host == "" {
		p.Host = base.Host()
		p.Port, _ = base.Port()
	}
	u, err := uri.Build(p)
	if err != nil {
		return fetch.Entry{}, fetch.Protocol.Errorf("invalid address in the description of the database: %w", err)
	}
	e := fetch.Entry{Name: textform.UTF8(name), URL: u, Kind: fetch.Index, Size: -1, Extra: map[string]string{}}
	for _, key := range []string{"description", "maintainer", "keyword-list", "cost", "cost-unit", "ip-address", "subjects"} {
		if v := s.get(key); v != "" {
			e.Extra[strings.ReplaceAll(key, "-", "_")] = textform.UTF8(v)
		}
	}
	return e, nil
}

// Limits for the description of a database, which usually has a dozen fields.
const (
	maxFields = 100
	maxNested = 16
)

// parseSource parses a WAIS source file, a Lisp-like list of keywords and
// values.
func parseSource(text []byte) (source, error) {
	p := sourceParser{bytes.TrimLeft(text, " \t\r\n\f\x00")}
	if !p.skip('(') || !strings.EqualFold(p.word(), ":source") {
		return nil, fetch.Protocol.Errorf("the text is not the description of a database")
	}
	var s source
	for !p.skip(')') {
		key, ok := strings.CutPrefix(p.word(), ":")
		if !ok || len(s) == maxFields {
			return nil, fetch.Protocol.Errorf("syntax error in the description of the database after field %d", len(s))
		}
		value, err := p.value(0)
		if err != nil {
			return nil, err
		}
		s = append(s, fetch.Field{Name: strings.ToLower(key), Value: value})
	}
	return s, nil
}

// A sourceParser consumes text from the beginning of b.
type sourceParser struct{ b []byte }

// skip consumes c if it is the next byte.
func (p *sourceParser) skip(c byte) bool {
	p.b = bytes.TrimLeft(p.b, " \t\r\n\f")
	if len(p.b) == 0 || p.b[0] != c {
		return false
	}
	p.b = p.b[1:]
	return true
}

// word consumes the bytes up to a space, parenthesis or quote.
func (p *sourceParser) word() string {
	p.b = bytes.TrimLeft(p.b, " \t\r\n\f")
	n := bytes.IndexAny(p.b, " \t\r\n\f()\"")
	if n < 0 {
		n = len(p.b)
	}
	w := p.b[:n]
	p.b = p.b[n:]
	return string(w)
}

// value consumes a word, a string or a list. It joins the words of a list with
// spaces.
func (p *sourceParser) value(depth int) (string, error) {
	switch {
	case depth > maxNested:
		return "", fetch.Protocol.Errorf("the description of the database is nested too deeply")
	case p.skip('"'):
		return p.quoted()
	case p.skip('('):
		var words []string
		for !p.skip(')') {
			w, err := p.value(depth + 1)
			if err != nil {
				return "", err
			}
			words = append(words, w)
		}
		return strings.Join(words, " "), nil
	}
	w := p.word()
	if w == "" {
		return "", fetch.Protocol.Errorf("the description of the database is truncated")
	}
	if w == "#" { // #( 1 2 3 ) is a list of bytes
		return p.value(depth + 1)
	}
	return w, nil
}

// quoted consumes a string after its opening quote. A backslash escapes a quote
// or a backslash.
func (p *sourceParser) quoted() (string, error) {
	var out []byte
	for i := 0; i < len(p.b); i++ {
		switch c := p.b[i]; c {
		case '"':
			p.b = p.b[i+1:]
			return string(out), nil
		case '\\':
			if i++; i < len(p.b) {
				out = append(out, p.b[i])
			}
		default:
			out = append(out, c)
		}
	}
	return "", fetch.Protocol.Errorf("the description of the database is truncated inside a string")
}
