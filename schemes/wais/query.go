package wais

import (
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/z3950"
	"github.com/anyurl/fetch/uri"
)

// A search is the query part of a URL.
type search struct {
	words string
	like  []like
	max   int // 0: the URL has no maximum
}

// A like is a document, or a range of its lines, that search results should
// resemble.
type like struct {
	document
	lines *lines
}

// lines is a range of lines, counted from zero. The end is not part of the
// range.
type lines struct{ first, end int64 }

// parseLines parses a range of lines "A,B" (RFC 5147). It returns nil if ok is
// false.
func parseLines(s string, ok bool) (*lines, error) {
	if !ok {
		return nil, nil
	}
	a, b, ok := strings.Cut(s, ",")
	first, err := strconv.ParseUint(a, 10, 31)
	end, err2 := strconv.ParseUint(b, 10, 31)
	if !ok || err != nil || err2 != nil || end <= first {
		return nil, fetch.BadURL.Errorf("invalid lines: want A,B with A less than B")
	}
	return &lines{int64(first), int64(end)}, nil
}

func (l lines) String() string {
	return strconv.FormatInt(l.first, 10) + "," + strconv.FormatInt(l.end, 10)
}

// parseSearch parses the query of a URL: search words, optionally followed by
// parameters such as "&max=9".
func parseSearch(query string) (*search, error) {
	words, rest, more := strings.Cut(query, "&")
	q := &search{}
	for more {
		var part string
		part, rest, more = strings.Cut(rest, "&")
		known, err := q.parameter(part)
		switch {
		case err != nil:
			return nil, err
		case known:
		case q.max != 0 || q.like != nil:
			return nil, fetch.BadURL.Errorf("the search has words after its parameters")
		default:
			words += "&" + part
		}
	}
	var err error
	q.words, err = uri.Unescape(strings.ReplaceAll(words, "+", " "))
	if err != nil {
		return nil, fetch.BadURL.With(err)
	}
	return q, checkWords(q.words)
}

func checkWords(words string) error {
	if strings.ContainsAny(words, "\r\n\x00") {
		return fetch.BadURL.Errorf("the search words contain a line break or NUL")
	}
	return nil
}

// maxLike is the maximum number of documents that the results of a search
// should resemble.
const maxLike = 32

// parameter parses one parameter of a search, such as "max=9". It returns false
// if part is not a parameter.
func (q *search) parameter(part string) (known bool, err error) {
	name, value, _ := strings.Cut(part, "=")
	switch name {
	case "max":
		n, err := strconv.ParseUint(value, 10, 24)
		if err != nil || n == 0 {
			return true, fetch.BadURL.Errorf("invalid max: want a number of documents")
		}
		q.max = int(n)
	case "like":
		if len(q.like) == maxLike {
			return true, fetch.BadURL.Errorf("the search names more than %d documents", maxLike)
		}
		d, err := parseDocument(value)
		if err != nil {
			return true, err
		}
		q.like = append(q.like, like{*d, nil})
	case "lines":
		if len(q.like) == 0 {
			return true, fetch.BadURL.Errorf("lines without a document")
		}
		q.like[len(q.like)-1].lines, err = parseLines(value, true)
		return true, err
	default:
		return false, nil
	}
	return true, nil
}

// append appends the search in the syntax of a URL query.
func (q search) append(dst []byte) []byte {
	for i, word := range strings.Split(q.words, " ") {
		if i > 0 {
			dst = append(dst, '+')
		}
		dst = uri.AppendEscape(dst, word, uri.Unreserved)
	}
	for _, l := range q.like {
		dst = appendDocument(append(dst, "&like="...), l.document)
		if l.lines != nil {
			dst = append(append(dst, "&lines="...), l.lines.String()...)
		}
	}
	if q.max > 0 {
		dst = strconv.AppendInt(append(dst, "&max="...), int64(q.max), 10)
	}
	return dst
}

// query returns the URL of a search in a database. Documents that the results
// should resemble must be on the same server.
func query(u uri.URI, q fetch.Search) (uri.URI, error) {
	l, err := locate(u)
	if err != nil {
		return uri.URI{}, err
	}
	if l.document != nil {
		return uri.URI{}, fetch.Unsupported.Errorf("a document cannot be searched")
	}
	s := search{words: q.Words, max: min(q.Max, 1<<24-1)}
	if err := checkWords(s.words); err != nil {
		return uri.URI{}, err
	}
	for _, v := range q.Like {
		d, err := resemble(u, v)
		if err != nil {
			return uri.URI{}, err
		}
		s.like = append(s.like, d)
	}
	if len(s.like) > maxLike {
		return uri.URI{}, fetch.Usage.Errorf("the search names more than %d documents", maxLike)
	}
	if u, err = u.WithoutFragment().WithPath("/" + l.segment); err != nil {
		return uri.URI{}, err
	}
	return u.WithQuery(string(s.append(nil)))
}

// resemble parses the URL of a document that the results should resemble.
func resemble(index, u uri.URI) (like, error) {
	here, err := fetch.TargetOf(index, port)
	if err != nil {
		return like{}, err
	}
	there, err := fetch.TargetOf(u, port)
	if err != nil {
		return like{}, err
	}
	if here != there {
		return like{}, fetch.Unsupported.Errorf("the similar document must be on the same server")
	}
	l, err := locate(u)
	if err == nil && l.document == nil {
		err = fetch.BadURL.Errorf("the URL does not name a document")
	}
	if err != nil {
		return like{}, err
	}
	return like{*l.document, l.lines}, nil
}

// request returns the protocol message for a search.
func (q *search) request(database string, limit int) *z3950.Search {
	wire := z3950.Query{Words: []byte(q.words), DateFactor: z3950.Some(1), Max: z3950.Some(uint32(q.limit(limit)))}
	for _, l := range q.like {
		d := z3950.Like{ID: []byte(l.id), Type: []byte(l.kind)}
		if l.lines != nil {
			d.Chunk, d.Start, d.End = z3950.Some(uint32(z3950.Lines)), z3950.Binary(uint32(l.lines.first)), z3950.Binary(uint32(l.lines.end))
		}
		wire.Like = append(wire.Like, d)
	}
	return z3950.NewQuery(database, wire)
}

// limit returns the maximum number of results to request.
func (q *search) limit(usual int) int {
	if q.max > 0 {
		return q.max
	}
	return usual
}
