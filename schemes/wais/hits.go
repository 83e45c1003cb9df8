package wais

import (
	"context"
	"crypto/sha256"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/baseuri"
	"github.com/anyurl/fetch/internal/entries"
	"github.com/anyurl/fetch/internal/tty"
	"github.com/anyurl/fetch/internal/z3950"
	"github.com/anyurl/fetch/uri"
)

// search lists the documents that a database has for an answer.
func (d *driver) search(ctx context.Context, req *fetch.Request, l locator) (*fetch.Response, error) {
	resp := &fetch.Response{Kind: fetch.Menu, Media: entries.Media, Size: -1, Proto: proto, Body: empty()}
	if req.Op == fetch.Stat {
		req.Trace.Notef("nothing was asked: a search is known by its results alone")
		return resp, nil
	}
	h := &hits{
		search: l.search, database: l.database, limit: l.search.limit(d.Max), req: req,
		base: req.URL.WithoutUserinfo().WithoutQuery().WithoutFragment(), folder: "/" + l.segment + "/",
	}
	if d.pages(l.search) {
		h.seen = map[[sha256.Size]byte]struct{}{}
	}
	if err := d.exchange(ctx, req, d.answerSize(l.search), h.begin); err != nil {
		return nil, err
	}
	h.Reader = entries.NewReader(h.next)
	resp.Body, resp.Peer = h, fetch.PeerOf(h.lease.Session.NetConn)
	return resp, nil
}

// hits is the Body of a search. It streams the records of one answer, or of
// several answers to searches with increasing limits.
type hits struct {
	io.Reader
	search   *search
	database string
	req      *fetch.Request
	lease    *lease
	base     uri.URI // of the URLs of documents
	folder   string  // of their paths: the database

	limit    int                            // maximum of the current search
	count    int                            // documents of the current answer so far
	previous int                            // documents of the previous answer
	seen     map[[sha256.Size]byte]struct{} // hashed ids of all answers; nil: search once

	closed atomic.Bool
	first  *z3950.Record // read by begin
	found  []fetch.Entry // not yet given out
	noted  int           // diagnostics
}

const (
	maxNoted  = 10 // diagnostics of one answer that are reported as notes
	maxPseudo = 8  // pseudo hits that begin reads
)

// begin reads up to the first real hit, or returns the error of the search.
// freeWAIS adds pseudo hits to some diagnostics. For example, it answers
// "(whale" with the catalogue and a syntax error.
func (h *hits) begin(l *lease) error {
	h.lease, h.first, h.found = l, nil, nil
	s := l.Session
	if err := s.search(h.search.request(h.database, h.limit)); err != nil {
		return err
	}
	var faults []error
	for pseudo := 0; ; {
		r, err := s.record()
		switch {
		case err == io.EOF:
			return h.withoutHits(faults)
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
		case len(faults) > 0 && pseudo == 0: // a diagnostic before any hit rejects the search
			if _, err := s.record(); err != nil && err != io.EOF {
				return err
			}
			return faults[0]
		default:
			for _, fault := range faults {
				h.note(fault)
			}
			h.first = &r // valid until the next one is read
			return nil
		}
	}
}

// withoutHits ends an answer without real hits.
func (h *hits) withoutHits(faults []error) error {
	switch {
	case len(faults) > 0:
		return faults[0]
	case h.search.words == "" && len(h.search.like) > 0 && len(h.found) > 0:
		return fetch.NeedQuery.Errorf("the server needs words to search for similar documents: it described the database instead")
	}
	h.lease.End(true)
	return nil
}

// next returns the next entry. The time that its reader takes between two of them
// does not count.
func (h *hits) next() (e fetch.Entry, err error) {
	if !h.lease.Ended() {
		h.lease.Session.SetReplyTimeout(replyTime)
	}
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

func (h *hits) note(fault error) {
	if h.noted++; h.noted <= maxNoted {
		h.req.Trace.Notef("%v", fault)
	}
}

func (h *hits) record() (z3950.Record, error) {
	switch {
	case h.first != nil:
		r := *h.first
		h.first = nil
		return r, nil
	case h.lease.Ended():
		return z3950.Record{}, io.EOF
	}
	r, err := h.lease.Session.record()
	for err == io.EOF && h.another() {
		if err = h.lease.Session.search(h.search.request(h.database, h.limit)); err == nil {
			r, err = h.lease.Session.record()
		}
	}
	switch {
	case err == io.EOF:
		h.noteLimit()
		h.lease.End(true)
	case err != nil:
		h.lease.End(false)
		err = brokenOff(err)
	}
	return r, err
}

func (h *hits) Read(p []byte) (int, error) {
	if h.closed.Load() {
		return 0, net.ErrClosed
	}
	return h.Reader.Read(p)
}

// Close ends the transfer, also beside a Read.
func (h *hits) Close() error {
	if !h.closed.Swap(true) {
		h.lease.End(false)
	}
	return nil
}

// What is listed of one hit. A hostile one would have a hundred types for an id
// of 64 KiB, and a listing hundreds of times its size.
const (
	maxListed  = 16       // types
	maxEscaped = 32 << 10 // bytes of the id in a URL: half of what a Client takes
)

// entries makes an entry of each type in which a document can be had.
func (h *hits) entries(r z3950.Record) (all []fetch.Entry) {
	e := fetch.Entry{Name: strings.TrimSpace(latin1(r.Headline)), Size: -1, Time: dateOf(string(r.Date)), Extra: extra(r)}
	if r.Score == z3950.Some(0) && strings.HasPrefix(e.Name, noResult) || len(r.ID) == 0 || len(uri.Escape(string(r.ID), uri.Unreserved)) > maxEscaped {
		e.Kind = fetch.Info
		return []fetch.Entry{e}
	}
	if e.Name == "" {
		e.Name = tty.Escape(latin1(r.ID))
	}
	types := r.Types
	if len(types) == 0 { // in a short header
		types = [][]byte{[]byte("TEXT")}
	}
	types = types[:min(len(types), maxListed)]
	for i, t := range types {
		d := document{kind: string(t), id: string(r.ID), length: -1}
		if i == 0 && r.Length.Set { // the length is that of the first type
			d.length = int64(r.Length.Value)
		}
		if e, ok := h.entry(e, d); ok {
			all = append(all, e)
		}
	}
	return all
}

// public are the schemes that a headline may lead to. A server has no say about
// the files of this machine and its mailboxes, and people fetch what was found
// as if they had typed it.
var public = []string{"http", "https", "ftp", "ftps", "gopher", "gophers", "news", "nntp", "snews", "nntps", "wais"}

// entry makes e lead to d.
func (h *hits) entry(e fetch.Entry, d document) (fetch.Entry, bool) {
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
	case "URL": // what it stands for is its headline
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
			m[key] = latin1(text)
		}
	}
	if len(r.Types) > 0 {
		names := make([]string, len(r.Types))
		for i, t := range r.Types {
			names[i] = latin1(t)
		}
		m["types"] = strings.Join(names, " ")
	}
	return m
}

// dateOf reads yymmdd and yyyymmdd; servers write "0" for what they do not
// know.
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
