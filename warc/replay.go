package warc

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/netip"
	"os"
	"path"
	"slices"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// Schemes returns the schemes given, answered from the archive: a Client made
// with them reads URLs, follows redirects and reads listings as it would on the
// network, and never asks that.
func (a *Archive) Schemes(schemes ...fetch.Scheme) []fetch.Scheme {
	replayed := make([]fetch.Scheme, len(schemes))
	for i, s := range schemes {
		s.Open = func(fetch.Env) fetch.Driver { return a }
		s.Traits.ReportsSize = true
		replayed[i] = s
	}
	return replayed
}

// Do is the Driver of Schemes. What was never captured is fetch.NotFound. A
// Body is held to the digest in its record, and ends with an error where the
// record says that it is not whole.
func (a *Archive) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	found, err := a.captures(req.URL)
	if err != nil {
		return nil, err
	}
	for n, l := range a.order(found) {
		if err := cmp.Or(ctx.Err(), tooMany(n)); err != nil {
			return nil, err
		}
		rec, err := a.open(l)
		if err != nil {
			return nil, err
		}
		switch rec.head.Type() {
		case Response, Resource, Revisit, Conversion:
			return a.answer(ctx, req, rec)
		}
		rec.Close() // metadata: it tells of the object
	}
	return nil, fetch.NotFound.Errorf("not in the archive")
}

// maxOpened bounds how many records are opened in search of an answer: the lines
// of an index may all name one that takes long to read.
const maxOpened = 1000

// tooMany returns an error behind maxOpened records.
func tooMany(opened int) error {
	if opened < maxOpened {
		return nil
	}
	return fetch.Mismatch.Errorf("the index has more than %d records of this URL that are no answer", maxOpened)
}

// captures lists the lines of u, which may be spelled another way.
func (a *Archive) captures(u uri.URI) (found []Line, err error) {
	want := target(u)
	same, err := uri.ParseZone(want)
	if err != nil {
		return nil, fetch.BadURL.With(err)
	}
	same = same.Normalize(uri.ByScheme)
	keys := []string{Key(want), Key(same.Unredacted())}
	for _, key := range slices.Compact(keys) {
		for l, err := range a.find(key) {
			if err != nil {
				return nil, err
			}
			other, err := uri.ParseZone(l.URL)
			if l.URL == want || err == nil && other.Normalize(uri.ByScheme) == same {
				found = append(found, l)
			}
		}
	}
	return found, nil
}

// record is one record of a file, open for reading.
type record struct {
	*Reader
	head *Header
	file *os.File
}

func (r *record) Close() error { return r.file.Close() }

func (a *Archive) open(l Line) (*record, error) {
	where, ok := a.places[path.Base(l.File)]
	if !ok {
		return nil, fetch.NotFound.Errorf("the index names %q, which is not in the archive", l.File)
	}
	in, f, err := where.open()
	if err != nil {
		return nil, err
	}
	r := NewReaderAt(in, l.Offset)
	h, err := r.Next()
	for err == nil && h.Target() != l.URL && h.Offset == l.Offset { // one of several in a member
		h, err = r.Next()
	}
	if err == nil && h.Target() != l.URL {
		err = errNoRecord
	}
	if err != nil {
		f.Close()
		return nil, fetch.Mismatch.Errorf("%s has no such record at %d: %w", where.path, l.Offset, noEOF(err))
	}
	return &record{Reader: r, head: h, file: f}, nil
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// maxRevisits bounds how many revisits lead from one to the next.
const maxRevisits = 5

// answer makes the Response of a record, which it closes or hands on.
func (a *Archive) answer(ctx context.Context, req *fetch.Request, rec *record) (*fetch.Response, error) {
	var head []byte // of the first revisit that has one of an object
	first := rec.head
	for range maxRevisits {
		if rec.head.Type() != Revisit {
			return a.respond(req, rec, first, head)
		}
		text, err := HTTPHead(rec)
		rec.Close()
		if err != nil {
			return nil, err
		}
		if status, _ := parseHead(text); head == nil && status >= 200 && status != 304 {
			head = text
		}
		if rec, err = a.visited(ctx, rec.head); err != nil {
			return nil, err
		}
	}
	rec.Close()
	return nil, fetch.Loop.Errorf("more than %d revisits, one of the other", maxRevisits)
}

// visited opens the record that a revisit refers to: by URL and date, as all
// replay does.
func (a *Archive) visited(ctx context.Context, h *Header) (*record, error) {
	url := unbracket(h.Get("WARC-Refers-To-Target-URI"))
	date := parseDate(h.Get("WARC-Refers-To-Date"))
	if url == "" {
		url = h.Target()
	}
	opened := 0
	for l, err := range a.find(Key(url)) {
		if err = errors.Join(err, ctx.Err(), tooMany(opened)); err != nil {
			return nil, err
		}
		if l.URL != url || !date.IsZero() && l.Timestamp != date.Format("20060102150405") {
			continue
		}
		opened++
		rec, err := a.open(l)
		if err != nil {
			return nil, err
		}
		same, known := sameDigest(h.Get("WARC-Payload-Digest"), rec.head.Get("WARC-Payload-Digest"))
		switch t := rec.head.Type(); {
		case t != Response && t != Resource && t != Revisit, known && !same, rec.head.ID() == h.ID():
		case date.IsZero() || rec.head.Date().Equal(date):
			return rec, nil
		}
		rec.Close()
	}
	return nil, fetch.NotFound.Errorf("the first visit, %q of %q, is not in the archive", url, h.Get("WARC-Refers-To-Date"))
}

// peerOf returns the address that the record says answered, if it is a public
// one. An archive may come from a stranger, and a page of a private address
// could lead to others there.
func peerOf(h *Header) netip.Addr {
	a, err := netip.ParseAddr(h.Get("WARC-IP-Address"))
	if err != nil || !fetch.IsPublic(a) {
		return netip.Addr{}
	}
	return a
}

// respond makes the Response. What is known of the capture is that of first;
// head, if there is one, stands for that of the block.
func (a *Archive) respond(req *fetch.Request, rec *record, first *Header, head []byte) (*fetch.Response, error) {
	resp := &fetch.Response{URL: req.URL, Kind: fetch.Document, Media: rec.head.Get("Content-Type"), Size: rec.head.Length}
	resp.Peer = peerOf(first)
	resp.Proto = first.Get("WARC-Protocol")
	resp.Validator = rec.head.Get("WARC-Payload-Digest")
	var err error
	body := &replayed{Reader: rec, rec: rec, cut: rec.head.Get("WARC-Truncated")}
	if rec.head.Get("WARC-Segment-Number") != "" {
		body.cut = "segment"
	} else {
		body.check(rec.head.Get("WARC-Payload-Digest"))
	}
	if isHTTP(resp.Media) {
		err = respondHTTP(req, resp, body, head)
	} else {
		resp.Kind = kindOf(resp.Media)
	}
	if err != nil {
		rec.Close()
		return nil, err
	}
	req.Trace.Notef("captured %s", formatDate(first.Date()))
	if resp.Body == nil {
		resp.Body = body
	}
	if err := finish(req, resp); err != nil {
		resp.Body.Close()
		return nil, err
	}
	return resp, nil
}
