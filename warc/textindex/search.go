package textindex

import (
	"context"
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/baseuri"
	"github.com/anyurl/fetch/internal/base/sqlite"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// Results are results of a search, the best one first.
type Results struct {
	Hits  []Hit
	Count int  // number of captures with these words, at most MaxCount
	More  bool // further results follow
	Stale int  // results that are left out, because the archive does not have the capture
}

// MaxCount is the limit of the field Count of Results. If more captures have the
// words, those with the words in the title come first, and the others have the
// order of the index. A search for frequent words would take too long otherwise.
const MaxCount = 5000

// A Hit is a capture that a search found. Its texts come from the archive, and
// can have control characters.
type Hit struct {
	URL     uri.URI
	Line    warc.Line
	Kind    Kind
	Title   string // title of a page or subject of an article, or ""
	Snippet []Span // a part of the text with the words
}

// A Span is a part of a snippet.
type Span struct {
	Text  string
	Match bool // the span is a word of the query
}

// Search returns the captures whose title or text has all words of the query.
func (x *Index) Search(ctx context.Context, q Query) (r Results, err error) {
	q = q.withFilters()
	wanted, unwanted, err := parseWords(q.Words)
	if err != nil {
		return r, err
	}
	if q.Limit <= 0 {
		q.Limit = defaultPage
	}
	q.Skip, q.Limit = min(max(q.Skip, 0), maxSkip), min(q.Limit, MaxLimit)
	rows, count, err := x.find(ctx, q, wanted, unwanted)
	if err != nil {
		return r, err
	}
	r.Count, r.More = count, len(rows) > q.Limit && q.Skip+q.Limit <= maxSkip
	for _, row := range rows[:min(len(rows), q.Limit)] {
		hit, ok := x.hit(ctx, row, wanted)
		if ctx.Err() != nil {
			return r, fetch.Canceled.With(ctx.Err())
		}
		if !ok {
			r.Stale++
			continue
		}
		r.Hits = append(r.Hits, hit)
	}
	return r, nil
}

// A docRow is a row of the table doc. It is untrusted.
type docRow struct {
	id, offset           int64
	file, timestamp, url string
}

// maxURL is the maximum length of a URL in the index, in bytes. The texts of longer
// URLs are left out.
const maxURL = 65536

// columns are the columns of a docRow, with at most maxURL characters of a URL. A
// forged index can have long values, which no capture has.
const columns = "id, offset, substr(file, 1, 4096), substr(timestamp, 1, 32), substr(url, 1, 65536)"

// find returns the rows of the captures for a query, and their number. It returns
// one more row than the limit if there are more.
func (x *Index) find(ctx context.Context, q Query, wanted, unwanted []phrase) (rows []docRow, count int, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.open(ctx); err != nil {
		return nil, 0, err
	}
	defer interruptAfter(x.conn, ctx, searchTime)()
	expression := q.expression("title body", wanted, unwanted)
	err = x.conn.Scan("select count(*) from (select 1 from word where word match ? limit ?)", []any{expression, MaxCount}, &count)
	switch {
	case err == nil && count < MaxCount:
		rows, err = x.ranked(expression, q.Limit+1, q.Skip)
	case err == nil:
		rows, err = x.unranked(expression, q.expression("title", wanted, nil), q.Limit+1, q.Skip)
	}
	switch {
	case ctx.Err() != nil:
		return nil, 0, fetch.Canceled.With(ctx.Err())
	case err != nil:
		return nil, 0, unusable(x.path, err)
	}
	return rows, count, nil
}

// ranked returns the rows of the captures that match, the best first.
func (x *Index) ranked(expression string, limit, skip int) ([]docRow, error) {
	// The weights are for title, body and facet.
	return x.rows(`select `+columns+` from
		(select rowid as hit, bm25(word, 8.0, 1.0, 0.0) as score from word where word match ? order by score, hit limit ? offset ?)
		join doc on doc.id = hit order by score, hit`, expression, limit, skip)
}

// unranked returns the rows of the captures that match, those with all words in
// the title first.
func (x *Index) unranked(expression, inTitle string, limit, skip int) (rows []docRow, err error) {
	wanted := skip + limit
	ids, err := x.ids(`select rowid from heading where heading match ?
		and exists (select 1 from word where word match ? and word.rowid = heading.rowid) limit ?`, inTitle, expression, wanted)
	if err == nil && len(ids) < wanted {
		var all []int64
		all, err = x.ids("select rowid from word where word match ? limit ?", expression, wanted+len(ids))
		titles := ids
		for _, id := range all {
			if !slices.Contains(titles, id) {
				ids = append(ids, id)
			}
		}
	}
	for _, id := range ids[min(skip, len(ids)):min(wanted, len(ids))] {
		if err == nil {
			var d []docRow
			d, err = x.rows("select "+columns+" from doc where id = ?", id)
			rows = append(rows, d...)
		}
	}
	return rows, err
}

// ids returns the row numbers that a query selects.
func (x *Index) ids(query string, args ...any) (ids []int64, err error) {
	err = x.conn.ForEachRow(query, args, func(r *sqlite.Row) error {
		var id int64
		err := r.Scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, err
}

// rows returns the rows of the table doc that a query selects.
func (x *Index) rows(query string, args ...any) (rows []docRow, err error) {
	err = x.conn.ForEachRow(query, args, func(r *sqlite.Row) error {
		var d docRow
		err := r.Scan(&d.id, &d.offset, &d.file, &d.timestamp, &d.url)
		rows = append(rows, d)
		return err
	})
	return rows, err
}

// hit returns the result for a row. It returns false if the archive does not have
// the capture, or if its record cannot be read.
func (x *Index) hit(ctx context.Context, row docRow, wanted []phrase) (h Hit, ok bool) {
	u, err := baseuri.ParseAbsolute(row.url)
	if err != nil {
		return h, false
	}
	for l, err := range x.archive.Lookup(u) {
		if err != nil || ctx.Err() != nil {
			return h, false
		}
		if l.File != row.file || l.Offset != row.offset || l.Timestamp != row.timestamp || l.URL != row.url {
			continue
		}
		h = Hit{URL: u, Line: l, Kind: kindOfLine(l)}
		d, err := readCapture(ctx, x.archive, x.scheme(u.Scheme()), u, h.Kind, l)
		if h.Kind == "" || err != nil {
			return h, false
		}
		if text := x.storedText(ctx, row); len(text) > 0 {
			d.body = strings.ToValidUTF8(string(text), "\ufffd")
		}
		h.Title, h.Snippet = d.title, snippet(d.body, wanted)
		return h, true
	}
	return h, false
}

// storedText returns the text of a capture that the index contains, or nil. Only
// the texts of WACZ files are in the index. Search keeps one of them in memory.
func (x *Index) storedText(ctx context.Context, row docRow) (text []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.conn == nil {
		return nil
	}
	defer interruptAfter(x.conn, ctx, searchTime)()
	err := x.conn.Scan("select substr(text, 1, ?) from doc where id = ? and file = ? and offset = ?",
		[]any{maxText, row.id, row.file, row.offset}, &text)
	if err != nil { // such as damage, or a row that another index replaced
		return nil
	}
	return text
}
