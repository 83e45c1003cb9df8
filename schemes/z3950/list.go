package z3950

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/internal/wire/z3950/apdu"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/uri"
)

// menu parses a listing.
var menu = entries.Menu

const (
	batch      = 20      // records of a Present request
	maxResults = 1 << 14 // maximum number of records in a listing
)

// list returns the response for a search. It sends the search and requests the
// first records. The other records are requested while Body is read.
func (d *driver) list(ctx context.Context, req *fetch.Request, l locator) (*fetch.Response, error) {
	resp := &fetch.Response{Kind: fetch.Menu, Media: entries.Media, Size: -1, Proto: proto, Body: http.NoBody}
	h := &hits{locator: l, base: req.URL.WithoutUserinfo().WithoutFragment(), next: 1}
	return d.request(ctx, req, func(lease *lease) (*fetch.Response, error) {
		s := lease.Session
		h.lease = lease
		if err := s.search(l); err != nil {
			return nil, err
		}
		if req.Op == fetch.Stat {
			resp.Header = fetch.Header{{Name: "records", Value: fmt.Sprint(s.count)}}
			lease.End(true)
			return resp, nil
		}
		if h.last = min(s.count, maxResults); h.last < s.count {
			req.Trace.Notef("the search found %d records: the first %d are listed", s.count, h.last)
		}
		if err := h.fill(); err != nil {
			return nil, err
		}
		resp.Body = lease.Body(entries.NewReader(h.entry), sessions.TruncatedFault)
		return resp, nil
	})
}

// hits reads the records of a result set.
type hits struct {
	locator
	lease      *lease
	base       uri.URI
	next, last int64 // position of the next record to request, and of the last one
	found      []apdu.Record
	at         int64 // position of found[0]
}

// fill requests the next records.
func (h *hits) fill() (err error) {
	if h.next > h.last {
		return nil
	}
	h.found, err = h.present(h.lease.Session, h.next, min(batch, h.last-h.next+1))
	h.at = h.next
	h.next += int64(len(h.found))
	return err
}

// entry returns the next entry of the listing.
func (h *hits) entry() (e fetch.Entry, err error) {
	if len(h.found) == 0 {
		if err := h.fill(); err != nil {
			return e, err
		}
	}
	if len(h.found) == 0 {
		return e, io.EOF
	}
	r, n := h.found[0], h.at
	h.found, h.at = h.found[1:], h.at+1
	if r.Diagnostic != nil {
		return fetch.Entry{Name: newDiagnosis(*r.Diagnostic).Error(), Kind: fetch.Info, Size: -1}, nil
	}
	media, body, err := h.document(r)
	if err != nil {
		return e, err
	}
	e = fetch.Entry{Name: title(r), Kind: fetch.Document, Media: media, Size: int64(len(body))}
	if e.Name == "" {
		e.Name = fmt.Sprintf("record %d", n)
	}
	if r.Database != "" {
		e.Extra = map[string]string{"database": tty.Escape(tty.Clip(r.Database, maxMessage))}
	}
	e.URL, err = h.recordURL(n)
	return e, err
}

// recordURL returns the URL of the record at position n.
func (h *hits) recordURL(n int64) (uri.URI, error) {
	asked, _ := h.base.Query()
	words, params, more := strings.Cut(asked, ";")
	text := fmt.Sprintf("%s;n=%d", words, n)
	if more {
		text += ";" + params
	}
	return h.base.WithQuery(text)
}
