package gateway

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/internal/base/baseuri"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/format/render"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

const (
	maxFound   = 200             // rows of a page of results
	maxWords   = 10              // words of a search
	searchTime = 3 * time.Second // time limit of a search, which the user can then continue
)

// A query selects captures by prefix and words. The results begin after the
// index line whose field Next equals the field from.
type query struct {
	prefix string
	words  []string // in lower case; each must occur in the URL or in the title
	from   int64
}

// results contains the template data of one page of search results.
type results struct {
	Rows    []captureRow
	Next    string // path of the next page of results, or ""
	Stopped bool   // the time limit ended the search before a page was full
	First   string // path of the first page of results, or "" for the first page
}

type captureRow struct{ Date, URL, Path, Media, Status, Size, Digest, Title, Changes, Same string }

type searchPage struct {
	page
	Prefix, Words string
	results
}

// search sends one page of search results.
func (x *exchange) search(c *collection, values url.Values) {
	data := searchPage{page: x.newPage("Search", c)}
	prefix, words := strings.TrimSpace(values.Get("prefix")), strings.TrimSpace(values.Get("words"))
	from, err := strconv.ParseInt(values.Get("from"), 10, 64)
	if text := values.Get("from"); text != "" && (err != nil || from < 0) {
		x.fail(http.StatusBadRequest, "The query is invalid", "The parameter from must be a number.")
		return
	}
	fields := strings.Fields(strings.ToLower(words))
	q := query{prefix: prefix, words: fields[:min(len(fields), maxWords)], from: from}
	select {
	case x.searches <- struct{}{}:
		defer func() { <-x.searches }()
	case <-x.r.Context().Done():
		return
	}
	found, next, err := c.find(x.r.Context(), q, time.Now().Add(searchTime))
	if err != nil {
		x.failWith(http.StatusInternalServerError, "The index cannot be read", problemText(err), c, nil)
		return
	}
	data.Prefix, data.Words, data.Rows = tty.Escape(prefix), tty.Escape(words), found
	path := c.path + "?" + url.Values{"prefix": {prefix}, "words": {words}}.Encode()
	if next > 0 {
		data.Next, data.Stopped = path+"&from="+strconv.FormatInt(next, 10), len(found) < maxFound
	}
	if from > 0 {
		data.First = path
	}
	x.render("search results", data)
}

// find returns at most maxFound captures that match q. The result next is not 0
// if there are more captures, or if the search was stopped at the deadline. At
// least one index line is read in any case.
func (c *collection) find(ctx context.Context, q query, deadline time.Time) (found []captureRow, next int64, err error) {
	if err := c.titles.list(ctx, c.Source); err != nil && ctx.Err() != nil {
		return nil, 0, err
	}
	prefix := q.prefix
	if !strings.Contains(prefix, ":") && strings.Contains(prefix, ".") {
		prefix = "http://" + prefix
	}
	next = q.from
	n := 0
	for l, err := range c.Source.Search(uri.EscapeNonASCII(prefix), q.from) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, 0, err
		}
		late := n > 0 && (n&63 == 0 || hasTitle(l)) && time.Now().After(deadline)
		if late || len(found) == maxFound {
			return found, next, nil
		}
		n++
		if title, ok := c.match(ctx, l, q.words); ok {
			found = append(found, c.row(l, title))
		}
		next = l.Next
	}
	return found, 0, nil
}

// match reports whether each word occurs in the URL or in the title of a
// capture, and returns the title. It reads no record of a document that cannot
// have a title.
func (c *collection) match(ctx context.Context, l warc.Line, words []string) (title string, ok bool) {
	address := strings.ToLower(l.URL)
	if strings.Contains(address, "%") {
		if text, err := uri.Unescape(l.URL); err == nil {
			address += "\n" + strings.ToLower(text)
		}
	}
	var missing []string
	for _, word := range words {
		if !strings.Contains(address, word) {
			missing = append(missing, word)
		}
	}
	if !hasTitle(l) {
		return "", len(missing) == 0
	}
	title = c.title(ctx, l)
	lower := strings.ToLower(title)
	for _, word := range missing {
		if !strings.Contains(lower, word) {
			return "", false
		}
	}
	return title, true
}

// row returns the table row of an index line.
func (c *collection) row(l warc.Line, title string) captureRow {
	at, _ := parseTimestamp(l.Timestamp)
	r := captureRow{
		Date: render.FormatDate(at), URL: tty.Escape(l.URL), Media: tty.Escape(l.Media), Status: tty.Escape(l.Status),
		Title: tty.Escape(title),
	}
	if u, err := baseuri.ParseAbsolute(l.URL); err == nil && !at.IsZero() {
		r.Path = c.pathOf(l.Timestamp, formPage, u)
	}
	return r
}
