package gateway

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/format/render"
	"github.com/anyurl/fetch/warc/textindex"
)

// textPage is the template data of a search in the texts of an archive.
type textPage struct {
	page
	Form           textForm
	Count          string // such as "12 results", or "" without a search
	Hits           []textHit
	Stale          int
	Previous, Next string // paths of the neighboring pages of results, or ""
}

// A textForm is the form for a search in the texts of an archive.
type textForm struct {
	Action, Words, Host, Year string
	Filters                   bool // the form has fields for filters
	Schemes, Kinds            []choice
}

// A choice is an option of a list in a form.
type choice struct {
	Value, Label string
	Selected     bool
}

type textHit struct {
	Path, Title, URL string
	Facts            []string
	Snippet          []textindex.Span
}

// kindLabels lists the kinds of texts in the order of the form.
var kindLabels = [...]choice{{Value: "", Label: "all"}, {Value: string(textindex.Page), Label: "web pages"},
	{Value: string(textindex.Article), Label: "articles and messages"}, {Value: string(textindex.Listing), Label: "menus and directories"},
	{Value: string(textindex.Other), Label: "other texts"}}

// hasTexts reports whether the texts of the archive have an index.
func (c *collection) hasTexts() bool { return c.Text != nil && c.Text.Exists() }

// newTextForm returns the form for the search in the texts of c. It is nil if the
// texts have no index.
func (c *collection) newTextForm() *textForm {
	if !c.hasTexts() {
		return nil
	}
	return &textForm{Action: c.path}
}

// textHits is the number of results on a page.
const textHits = 20

// searchTexts sends a page of results of a search in the texts of an archive.
func (x *exchange) searchTexts(c *collection, values url.Values) {
	if !c.hasTexts() {
		x.failWith(http.StatusNotFound, "The texts of this archive have no index", "The owner of the archive can write an index of its texts.", c, nil)
		return
	}
	number, _ := strconv.Atoi(values.Get("page")) // 0 selects the first page
	number = min(max(number, 1), 1000)
	q := textindex.Query{
		Words: values.Get("text"), Scheme: values.Get("scheme"), Host: strings.TrimSpace(values.Get("host")),
		Kind: textindex.Kind(values.Get("kind")), Year: strings.TrimSpace(values.Get("year")), Skip: (number - 1) * textHits, Limit: textHits,
	}
	data := textPage{page: x.newPage("Search in texts", c), Form: x.filledForm(c, q)}
	if strings.TrimSpace(q.Words) == "" {
		x.render("text search", data)
		return
	}
	select {
	case x.searches <- struct{}{}:
		defer func() { <-x.searches }()
	case <-x.r.Context().Done():
		return
	}
	found, err := c.Text.Search(x.r.Context(), q)
	switch {
	case errors.Is(err, fetch.Usage):
		x.failWith(http.StatusBadRequest, "The search is invalid", err.Error(), c, nil)
		return
	case err != nil:
		x.failWith(http.StatusInternalServerError, "The text index cannot be used",
			"The index is damaged, or another program wrote it. The owner of the archive can write a new one.", c, nil)
		return
	}
	for _, h := range found.Hits {
		data.Hits = append(data.Hits, c.textHit(h))
	}
	data.Count, data.Stale = countResults(found.Count), found.Stale
	pagePath := func(n int) string {
		values.Set("page", strconv.Itoa(n))
		return c.path + "?" + values.Encode()
	}
	if number > 1 {
		data.Previous = pagePath(number - 1)
	}
	if found.More {
		data.Next = pagePath(number + 1)
	}
	x.render("text search", data)
}

// countResults returns a text such as "12 results".
func countResults(n int) string {
	switch {
	case n == 1:
		return "1 result"
	case n >= textindex.MaxCount:
		return "at least " + render.FormatCount(textindex.MaxCount) + " results"
	}
	return render.FormatCount(int64(n)) + " results"
}

// filledForm returns the form with the values of q.
func (x *exchange) filledForm(c *collection, q textindex.Query) textForm {
	f := textForm{Action: c.path, Words: tty.Escape(q.Words), Host: tty.Escape(q.Host), Year: tty.Escape(q.Year), Filters: true}
	for _, k := range kindLabels {
		k.Selected = k.Value == string(q.Kind)
		f.Kinds = append(f.Kinds, k)
	}
	f.Schemes = []choice{{Value: "", Label: "all"}}
	ctx, cancel := context.WithTimeout(x.r.Context(), cardTime)
	defer cancel()
	listed := q.Scheme == ""
	if s, err := c.count(ctx); err == nil {
		for _, row := range s.Schemes {
			f.Schemes = append(f.Schemes, choice{row.Name, tty.Escape(row.Name), row.Name == q.Scheme})
			listed = listed || row.Name == q.Scheme
		}
	}
	if !listed {
		f.Schemes = append(f.Schemes, choice{q.Scheme, tty.Escape(q.Scheme), true})
	}
	return f
}

// textHit returns the template data of a result. Its texts are escaped.
func (c *collection) textHit(h textindex.Hit) textHit {
	at, _ := parseTimestamp(h.Line.Timestamp)
	hit := textHit{
		Path: c.pathOf(h.Line.Timestamp, formPage, h.URL.WithoutFragment()), Title: tty.Escape(clipTitle(h.Title)), URL: tty.Escape(h.URL.String()),
		Facts: []string{render.FormatDate(at), tty.Escape(h.Line.Media)},
	}
	for _, s := range h.Snippet {
		hit.Snippet = append(hit.Snippet, textindex.Span{Text: tty.Escape(s.Text), Match: s.Match})
	}
	return hit
}

// A homeSearch is the form of the first page for a search in texts.
type homeSearch struct {
	Action   string
	Archives []archiveLink // archives whose texts have an index
}

// newHomeSearch returns the form of the first page for a search in texts, or nil
// if no archive has an index.
func (x *exchange) newHomeSearch() *homeSearch {
	s := &homeSearch{Action: x.base + "/"}
	for _, c := range x.archives {
		if c.hasTexts() {
			s.Archives = append(s.Archives, archiveLink{tty.Escape(c.Name), c.Name})
		}
	}
	if len(s.Archives) == 0 {
		return nil
	}
	return s
}

// searchFromHome answers the form of [homeSearch] with a redirect. It returns
// false if the query is not from this form.
func (x *exchange) searchFromHome(query string) bool {
	values, err := url.ParseQuery(query)
	if err != nil || !values.Has("text") {
		return false
	}
	for _, c := range x.archives {
		if c.Name == values.Get("archive") {
			x.redirect(c.path + "?" + url.Values{"text": {values.Get("text")}}.Encode())
			return true
		}
	}
	x.notFound()
	return true
}
