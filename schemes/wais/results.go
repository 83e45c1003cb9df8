package wais

import (
	"context"
	"crypto/sha256"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/baseuri"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/internal/wire/z3950"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/schemes/internal/textform"
	"github.com/anyurl/fetch/uri"
)

// search returns the listing of the documents that match a search.
func (d *driver) search(ctx context.Context, req *fetch.Request, l locator) (*fetch.Response, error) {
	resp := &fetch.Response{Kind: fetch.Menu, Media: entries.Media, Size: -1, Proto: proto, Body: http.NoBody}
	if req.Op == fetch.Stat {
		req.Trace.Notef("no request was sent: a search has no metadata")
		return resp, nil
	}
	h := &results{
		search: l.search, database: l.database, limit: l.search.limit(d.Max), req: req,
		base: req.URL.WithoutUserinfo().WithoutQuery().WithoutFragment(), folder: "/" + l.segment + "/",
	}
	if d.pages(l.search) {
		h.seen = map[[sha256.Size]byte]struct{}{}
	}
	return d.request(ctx, req, d.answerSize(l.search), func(l *lease) (*fetch.Response, error) {
		if err := h.start(l); err != nil {
			return nil, err
		}
		resp.Body = l.Body(entries.NewReader(h.next), sessions.TruncatedFault)
		return resp, nil
	})
}

// results reads the entries of a search as they arrive. If the search is
// repeated with larger limits, the entries of all responses are joined.
type results struct {
	search   *search
	database string
	req      *fetch.Request
	lease    *lease
	base     uri.URI // base of the URLs of documents
	folder   string  // first segment of their paths, the database

	limit    int                            // maximum of the current search
	count    int                            // documents of the current answer so far
	previous int                            // documents of the previous answer
	seen     map[[sha256.Size]byte]struct{} // hashed ids of all answers; nil: search once

	first *z3950.Record // the record that start has read
	ended bool          // the response has no more records
	found []fetch.Entry // entries that next has not returned yet
	noted int           // number of diagnostics
}

const (
	maxNoted  = 10 // diagnostics of one answer that are reported as notes
	maxPseudo = 8  // maximum number of pseudo results that start reads
)

// start reads the response up to the first search result, or returns the error
// of the search. freeWAIS may send a diagnostic together with entries that are
// not results. For example, its reply to "(whale" has the catalogue and a
// syntax error.
func (h *results) start(l *lease) error {
	h.lease, h.first, h.ended, h.found = l, nil, false, nil
	s := l.Session
	if err := s.search(h.search.request(h.database, h.limit)); err != nil {
		return err
	}
	var faults []error
	for pseudo := 0; ; {
		r, err := s.record()
		switch {
		case err == io.EOF:
			return h.withoutResults(faults)
		case err != nil:
			return err
		case r.Kind == z3950.Diagnosis:
			if len(faults) < maxNoted {
				faults = append(faults, diagnosis(r.Diagnostic))
			}
		case r.Kind == z3950.Text, r.Kind == z3950.WordsUsed:
		case pseudo < maxPseudo && isPseudo(r):
			pseudo++
			h.found = append(h.found, h.entries(r)...)
		case len(faults) > 0 && pseudo == 0: // a diagnostic before all results rejects the search
			if _, err := s.record(); err != nil && err != io.EOF {
				return err
			}
			return faults[0]
		default:
			for _, fault := range faults {
				h.note(fault)
			}
			h.first = &r // valid until the next record is read
			return nil
		}
	}
}

// withoutResults returns the outcome of a search whose response has no results.
func (h *results) withoutResults(faults []error) error {
	switch {
	case len(faults) > 0:
		return faults[0]
	case h.search.words == "" && len(h.search.like) > 0 && len(h.found) > 0:
		return fetch.NeedQuery.Errorf("the server needs words to search for similar documents: it described the database instead")
	}
	h.ended = true
	return nil
}

// next returns the next entry. The time between two calls does not count as
// response time of the server.
func (h *results) next() (e fetch.Entry, err error) {
	h.lease.Session.SetReplyTimeout(replyTime)
	for len(h.found) == 0 {
		r, err := h.record()
		switch {
		case err != nil:
			return e, err
		case r.Kind == z3950.Diagnosis:
			h.note(diagnosis(r.Diagnostic))
		case r.Kind != z3950.Text && r.Kind != z3950.WordsUsed && h.isNew(r):
			h.found = h.entries(r)
		}
	}
	e, h.found = h.found[0], h.found[1:]
	return e, nil
}

func (h *results) note(fault error) {
	if h.noted++; h.noted <= maxNoted {
		h.req.Trace.Notef("%v", fault)
	}
}

func (h *results) record() (z3950.Record, error) {
	switch {
	case h.first != nil:
		r := *h.first
		h.first = nil
		return r, nil
	case h.ended:
		return z3950.Record{}, io.EOF
	}
	r, err := h.lease.Session.record()
	for err == io.EOF && h.another() {
		if err = h.lease.Session.search(h.search.request(h.database, h.limit)); err == nil {
			r, err = h.lease.Session.record()
		}
	}
	if err == io.EOF {
		h.ended = true
		h.noteLimit()
	}
	return r, err
}

// Limits for one search result. A hostile result with a hundred types and an id
// of 64 KiB would otherwise make the listing hundreds of times as large.
const (
	maxListed  = 16       // types per result
	maxEscaped = 32 << 10 // bytes of the escaped id in a URL: half of the limit of a Client
)

// entries returns one entry for each format of a document.
func (h *results) entries(r z3950.Record) (all []fetch.Entry) {
	e := fetch.Entry{Name: strings.TrimSpace(textform.UTF8(r.Headline)), Size: -1, Time: dateOf(string(r.Date)), Extra: extra(r)}
	if r.Score == z3950.Some(0) && strings.HasPrefix(e.Name, noResult) || len(r.ID) == 0 || len(uri.Escape(string(r.ID), uri.Unreserved)) > maxEscaped {
		e.Kind = fetch.Info
		return []fetch.Entry{e}
	}
	if e.Name == "" {
		e.Name = tty.Escape(textform.UTF8(r.ID))
	}
	types := r.Types
	if len(types) == 0 { // a short header has no types
		types = [][]byte{[]byte("TEXT")}
	}
	types = types[:min(len(types), maxListed)]
	for i, t := range types {
		d := document{kind: string(t), id: string(r.ID), length: -1}
		if i == 0 && r.Length.Set { // the length belongs to the first type
			d.length = int64(r.Length.Value)
		}
		if e, ok := h.entry(e, d); ok {
			all = append(all, e)
		}
	}
	return all
}

// public lists the schemes of URLs that a search result may name. URLs of local
// files and mailboxes are excluded, because users trust search results.
var public = []string{"http", "https", "ftp", "ftps", "gopher", "gophers", "news", "nntp", "snews", "nntps", "wais"}

// entry returns a copy of e with the URL of the document d.
func (h *results) entry(e fetch.Entry, d document) (fetch.Entry, bool) {
	if !isType(d.kind) || checkID(d.id) != nil {
		return e, false
	}
	u, err := h.base.WithPath(string(appendDocument([]byte(h.folder), d)))
	if err != nil {
		return e, false
	}
	e.URL, e.Kind, e.Media, e.Size = u, fetch.Document, mediaOf(d.kind), d.length
	switch d.kind {
	case sourceType:
		e.Kind = fetch.Menu
	case "URL": // the headline is the URL of the object
		if to, err := baseuri.ParseAbsolute(e.Name); err == nil && slices.Contains(public, to.Scheme()) {
			e.URL, e.Media, e.Size = to.WithoutUserinfo(), "", -1
		}
	}
	return e, true
}

func extra(r z3950.Record) map[string]string {
	m := map[string]string{}
	for key, n := range map[string]z3950.Number{"score": r.Score, "best_line": r.BestMatch, "lines": r.Lines} {
		if n.Set && (key != "best_line" || n.Value > 0) {
			m[key] = strconv.FormatUint(uint64(n.Value), 10)
		}
	}
	for key, text := range map[string][]byte{"source": r.Source, "city": r.City} {
		if len(text) > 0 {
			m[key] = textform.UTF8(text)
		}
	}
	if len(r.Types) > 0 {
		names := make([]string, len(r.Types))
		for i, t := range r.Types {
			names[i] = textform.UTF8(t)
		}
		m["types"] = strings.Join(names, " ")
	}
	return m
}

// dateOf parses a date in the form yymmdd or yyyymmdd. Servers write "0" for an
// unknown date.
func dateOf(s string) time.Time {
	layout := "20060102"
	if len(s) == 6 {
		layout = "060102"
	}
	t, err := time.Parse(layout, s)
	if err != nil {
		return time.Time{}
	}
	return t
}
