package wais

import (
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/z3950"
	"github.com/anyurl/fetch/uri"
)

// A search is the question that a URL asks.
type search struct {
	words string
	like  []like
	max   int // 0: not said
}

// like is a document to resemble, or some lines of one.
type like struct {
	document
	lines *lines
}

// lines are those from first up to but not including end, counted from zero.
type lines struct{ first, end int64 }

// parseLines reads A,B where there is something to read, as RFC 5147 writes
// what it calls positions.
func parseLines(s string, ok bool) (*lines, error) {
	if !ok {
		return nil, nil
	}
	a, b, ok := strings.Cut(s, ",")
	first, err := strconv.ParseUint(a, 10, 31)
	end, err2 := strconv.ParseUint(b, 10, 31)
	if !ok || err != nil || err2 != nil || end <= first {
		return nil, fetch.BadURL.Errorf("lines that are not A,B, two numbers of which the second is larger")
	}
	return &lines{int64(first), int64(end)}, nil
}

func (l lines) String() string {
	return strconv.FormatInt(l.first, 10) + "," + strconv.FormatInt(l.end, 10)
}

// parseSearch reads a query, still encoded. What follows "&" is part of the
// words but for the parameters, which end them.
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
			return nil, fetch.BadURL.Errorf("words behind the parameters of a search")
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
		return fetch.BadURL.Errorf("line break or NUL in the words of a search")
	}
	return nil
}

// maxLike bounds the documents that one search names.
const maxLike = 32

// parameter reads one that belongs to a search.
func (q *search) parameter(part string) (known bool, err error) {
	name, value, _ := strings.Cut(part, "=")
	switch name {
	case "max":
		n, err := strconv.ParseUint(value, 10, 24)
		if err != nil || n == 0 {
			return true, fetch.BadURL.Errorf("max of a search is no number of documents")
		}
		q.max = int(n)
	case "like":
		if len(q.like) == maxLike {
			return true, fetch.BadURL.Errorf("search that names more than %d documents", maxLike)
		}
		d, err := parseDocument(value)
		if err != nil {
			return true, err
		}
		q.like = append(q.like, like{*d, nil})
	case "lines":
		if len(q.like) == 0 {
			return true, fetch.BadURL.Errorf("lines of no document")
		}
		q.like[len(q.like)-1].lines, err = parseLines(value, true)
		return true, err
	default:
		return false, nil
	}
	return true, nil
}

// append writes q as a query that parseSearch reads.
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

// query writes the URL that asks the database of u. A document to resemble
// must be of the same server.
func query(u uri.URI, q fetch.Search) (uri.URI, error) {
	l, err := locate(u)
	if err != nil {
		return uri.URI{}, err
	}
	switch {
	case l.document != nil:
		return uri.URI{}, fetch.Unsupported.Errorf("a document is no index")
	case q.Words == "" && len(q.Like) == 0:
		return uri.URI{}, fetch.NeedQuery.Errorf("index asked without words")
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
		return uri.URI{}, fetch.Usage.Errorf("search that names more than %d documents", maxLike)
	}
	if u, err = u.WithoutFragment().WithPath("/" + l.segment); err != nil {
		return uri.URI{}, err
	}
	return u.WithQuery(string(s.append(nil)))
}

// resemble reads the URL of a document that the results are to be like.
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
		return like{}, fetch.Unsupported.Errorf("document of another server: only its own can be resembled")
	}
	l, err := locate(u)
	if err == nil && l.document == nil {
		err = fetch.BadURL.Errorf("not a document: nothing can be like it")
	}
	if err != nil {
		return like{}, err
	}
	return like{*l.document, l.lines}, nil
}

// request is q as the protocol asks it.
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

// limit is how many documents are asked for.
func (q *search) limit(usual int) int {
	if q.max > 0 {
		return q.max
	}
	return usual
}
