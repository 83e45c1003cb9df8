package warc

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/uri"
)

// Schemes returns copies of schemes whose drivers replay captures from the
// archive. A fetch.Client with these schemes follows redirects and parses
// listings as usual, but never connects to a network.
func (a *Archive) Schemes(schemes ...fetch.Scheme) []fetch.Scheme {
	replayed := make([]fetch.Scheme, len(schemes))
	for i, s := range schemes {
		s.Open = func(fetch.Env) fetch.Driver { return driver{a} }
		s.Traits.ReportsSize = true
		replayed[i] = s
	}
	return replayed
}

// A driver is a fetch.Driver that replays the captures of an archive.
type driver struct{ *Archive }

// Do returns the capture of the requested URL as a response. If there is no
// capture, the error wraps fetch.NotFound. Reading the Body verifies the payload
// digest. The Body of a truncated capture returns an error at its end.
// For a request with the field Outgoing, the capture has the same method and the
// same body.
func (a driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	near := nearest{Archive: a.Archive}
	for l, err := range a.linesOfRequest(req) {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		near.add(l)
	}
	for opened, l := range near.sorted() {
		if err := cmp.Or(ctx.Err(), checkOpened(opened)); err != nil {
			return nil, err
		}
		resp, err := a.Replay(ctx, req, l)
		if !errors.Is(err, errNoCapture) {
			if err == nil {
				near.noteSuccess(req.Trace, l)
			}
			return resp, err
		}
	}
	if a.Similar {
		return a.replaySimilar(ctx, req)
	}
	return nil, errMissing
}

// errMissing means that an archive has no capture of a URL.
var errMissing = fetch.NotFound.Errorf("the archive has no capture of this URL")

// replaySimilar returns the capture of a similar request as the response to req.
func (a driver) replaySimilar(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	l, ok, err := a.similar(ctx, req)
	if err != nil {
		return nil, err
	}
	u, err := parseURL(l.URL)
	if !ok || err != nil {
		return nil, errMissing
	}
	other := req.Clone()
	other.URL = u
	req.Trace.Notef("the capture is one of %s", u)
	return a.Replay(ctx, other, l)
}

// errNoCapture means that a record cannot be replayed.
var errNoCapture = fetch.NotFound.Errorf("the record is not a capture")

// Replay returns the capture to which the index line l refers as the response
// to req. The URLs of l and req must be equal or equivalent, or differ only in
// the schemes http and https. Reading the Body verifies the payload digest. If
// the record is not a capture, such as a metadata record, the error wraps
// fetch.NotFound. This also applies to a redirect from https to http, or from
// http to https, that leads to the URL of req.
func (a *Archive) Replay(ctx context.Context, req *fetch.Request, l Line) (*fetch.Response, error) {
	rec, err := a.openRecord(l)
	if err != nil {
		return nil, err
	}
	if !rec.head.isCapture() {
		rec.Close()
		return nil, errNoCapture
	}
	resp, err := a.followRevisits(ctx, req, rec)
	if err == nil && leadsBack(l, req.URL, resp.Location) {
		resp.Body.Close()
		return nil, errNoCapture
	}
	return resp, err
}

// leadsBack reports whether l has another scheme than the requested URL and
// redirects to the requested URL. Without such a capture, replay would redirect
// to the same capture forever.
func leadsBack(l Line, requested, location uri.URI) bool {
	scheme, _, _ := strings.Cut(l.URL, ":")
	same := func(u uri.URI) uri.URI { return u.WithoutFragment().Normalize(uri.ByScheme) }
	return !strings.EqualFold(scheme, requested.Scheme()) && same(location) == same(requested)
}

// maxOpened is the maximum number of records that one request opens. An index
// can contain many lines for records that cannot be replayed.
const maxOpened = 1000

// checkOpened returns an error if the limit maxOpened is reached.
func checkOpened(opened int) error {
	if opened < maxOpened {
		return nil
	}
	return fetch.Mismatch.Errorf("more than %d records of this URL cannot be replayed", maxOpened)
}

// maxRevisits is the maximum length of a chain of revisit records.
const maxRevisits = 5

// followRevisits follows a chain of revisit records and returns a response with
// the payload of the original record. It closes rec or passes it to the
// response.
func (a *Archive) followRevisits(ctx context.Context, req *fetch.Request, rec *record) (*fetch.Response, error) {
	var head []byte // HTTP header in the first revisit that describes the object
	first := rec.head
	for range maxRevisits {
		if rec.head.Type() != Revisit {
			return a.respond(req, rec, first, head)
		}
		text, err := readHead(rec)
		rec.Close()
		if err != nil {
			return nil, err
		}
		if status, _ := parseHead(text); head == nil && status >= 200 && status != 304 {
			head = text
		}
		if rec, err = a.openOriginal(ctx, rec.head); err != nil {
			return nil, err
		}
	}
	rec.Close()
	return nil, fetch.Loop.Errorf("chain of more than %d revisit records", maxRevisits)
}

// openOriginal opens the original record of a revisit record. It searches for
// the URL and date in the fields WARC-Refers-To-Target-URI and
// WARC-Refers-To-Date. If no record has the exact date, it uses a record of the
// same second, because a date from an index has whole seconds. It prefers a record
// that is not a revisit record to an earlier revisit record.
func (a *Archive) openOriginal(ctx context.Context, h *Header) (_ *record, err error) {
	var similar *record
	defer func() {
		if similar != nil && err != nil {
			similar.Close()
		}
	}()
	url := trimBrackets(h.Get("WARC-Refers-To-Target-URI"))
	date := parseDate(h.Get("WARC-Refers-To-Date"))
	if url == "" {
		url = h.Target()
	}
	opened := 0
	for l, err := range a.linesOfAllMethods(Key(url)) {
		if err = errors.Join(err, ctx.Err(), checkOpened(opened)); err != nil {
			return nil, err
		}
		if l.URL != url || !date.IsZero() && l.Timestamp != date.Format("20060102150405") {
			continue
		}
		opened++
		rec, err := a.openRecord(l)
		if err != nil {
			return nil, err
		}
		same, known := sameDigest(h.Get("WARC-Payload-Digest"), rec.head.Get("WARC-Payload-Digest"))
		switch t := rec.head.Type(); {
		case t != Response && t != Resource && t != Revisit, known && !same, rec.head.ID() == h.ID():
		case date.IsZero() || rec.head.Date().Equal(date):
			if similar != nil {
				similar.Close()
			}
			return rec, nil
		case sameSecond(rec.head.Date(), date) && prefers(h, rec.head, similar):
			if similar != nil {
				similar.Close()
			}
			similar = rec
			continue
		}
		rec.Close()
	}
	if similar != nil {
		return similar, nil
	}
	return nil, fetch.NotFound.Errorf("the archive has no original record for a revisit of %q at %q",
		url, h.Get("WARC-Refers-To-Date"))
}

// prefers reports whether r is more likely than best the header of the original
// record for the revisit record h. The record best can be nil.
func prefers(h, r *Header, best *record) bool {
	if r.Type() == Revisit {
		return best == nil && r.Date().Before(h.Date())
	}
	return best == nil || best.head.Type() == Revisit
}

// sameSecond reports whether two dates are in the same second, and at least one
// of them has no fraction of a second.
func sameSecond(a, b time.Time) bool {
	whole := a.Nanosecond() == 0 || b.Nanosecond() == 0
	return whole && a.Truncate(time.Second).Equal(b.Truncate(time.Second))
}

// peerOf returns the server address in the record if the address is public. It
// ignores private addresses, because the archive may be untrusted. A page from
// a private address could link to other private addresses.
func peerOf(h *Header) netip.Addr {
	a, err := netip.ParseAddr(h.Get("WARC-IP-Address"))
	if err != nil || !fetch.IsPublic(a) {
		return netip.Addr{}
	}
	return a
}

// respond returns the response for a record. The parameter first is the header
// of the requested record, which can be a revisit record. If head is not nil,
// it replaces the HTTP header in the block.
func (a *Archive) respond(req *fetch.Request, rec *record, first *Header, head []byte) (*fetch.Response, error) {
	resp := &fetch.Response{URL: req.URL, Kind: fetch.Document, Media: rec.head.Get("Content-Type"), Size: rec.head.Length}
	resp.Peer = peerOf(first)
	resp.Proto = first.Get("WARC-Protocol")
	resp.Validator = rec.head.Get("WARC-Payload-Digest")
	var err error
	body := &replayBody{Reader: rec, rec: rec, truncated: rec.head.Get("WARC-Truncated")}
	if rec.head.Get("WARC-Segment-Number") != "" {
		body.truncated = "segment"
	} else {
		body.verify(rec.head.Get("WARC-Payload-Digest"))
	}
	if isHTTP(resp.Media) {
		err = a.respondHTTP(req, resp, body, head)
	} else {
		resp.Kind, resp.Media = entries.KindOf(resp.Media), entries.UnmarkedMedia(resp.Media)
	}
	if err != nil {
		rec.Close()
		return nil, err
	}
	req.Trace.Notef("captured %s", formatDate(first.Date()))
	if resp.Body == nil {
		resp.Body = body
	}
	if err := applyRequest(req, resp); err != nil {
		resp.Body.Close()
		return nil, err
	}
	return resp, nil
}
