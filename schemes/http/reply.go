package http

import (
	"cmp"
	"io"
	"math"
	"net/http"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/coding"
	"github.com/anyurl/fetch/internal/wire/http1"
	"github.com/anyurl/fetch/schemes/internal/selection"
)

// A responseBuilder converts an HTTP response to a fetch.Response.
type responseBuilder struct {
	*exchange
	wire *wireRequest
	req  *fetch.Request
	raw  bool // do not decode content codings
	keep bool // do not decode files that are compressed themselves

	ignoreDigests bool // Options.IgnoreDigests
	now           time.Time
	out           *fetch.Response

	limit   func(io.ReadCloser) io.ReadCloser // fetch.Env.Limit
	maxBody int64                             // maximum length of the body in bytes, or zero for no limit

	decoded bool // content codings were removed from the body
}

func (r *responseBuilder) response() (*fetch.Response, error) {
	if err := r.validateHead(); err != nil {
		return nil, err
	}
	r.out = &fetch.Response{
		Kind:   fetch.Document,
		Media:  r.header.Get("Content-Type"),
		Size:   r.length,
		Time:   r.lastModified(),
		Code:   r.code,
		Proto:  r.proto,
		Peer:   cmp.Or(r.wire.server, r.peer()),
		TLS:    r.tls,
		Head:   r.head,
		Header: r.header,
		Body:   r.body,

		Trailer: r.trailer,
	}
	if r.lengthOverflow && r.maxBody > 0 {
		r.out.Size = math.MaxInt64 // larger than every limit
	}
	if err := r.applyStatus(); err != nil {
		return nil, err
	}
	if r.req.Op == fetch.Stat {
		r.discardBody() // stops the transfer if GET replaced HEAD
	}
	if r.head == nil {
		r.out.Code = 0 // HTTP/0.9 has no status code
	}
	if r.wire.outgoing != nil {
		return r.out, nil
	}
	r.checkDigests()
	if err := r.decode(); err != nil {
		return nil, err
	}
	r.sniff()
	return r.out, nil
}

// decode removes content codings, such as gzip, from the response body if the
// request accepts them.
func (r *responseBuilder) decode() (err error) {
	if !r.wire.decodes || r.raw || r.req.Op == fetch.Stat || r.out.Unchanged {
		return nil
	}
	switch {
	case !r.keep:
		r.decoded, err = coding.Decode(r.out, r.req.Trace)
	case !media.IsCompressed(r.out.Media, ""):
		r.decoded, err = coding.DecodeStored(r.out, r.req.Trace)
	}
	return err
}

// validateHead rejects response heads that are valid in HTTP but not accepted
// by the driver. Examples are very long header fields and two different
// Location fields.
func (r *responseBuilder) validateHead() error {
	if r.code < 200 || r.code > 599 {
		return fetch.Protocol.Errorf("invalid status code %d", r.code)
	}
	if len(r.header) > http1.MaxFields {
		return fetch.TooLarge.Errorf("response head has more than %d fields", http1.MaxFields)
	}
	location := -1
	for i, f := range r.header {
		switch {
		case len(f.Value) >= maxField:
			return fetch.TooLarge.Errorf("header field of %d bytes or more", maxField)
		case !f.Is("Location"):
		case location >= 0 && r.header[location].Value != f.Value:
			return fetch.Protocol.Errorf("two different Location fields")
		default:
			location = i
		}
	}
	return nil
}

// lastModified returns the Last-Modified date of the response. It returns the
// zero time if the date is missing, malformed or in the future.
func (r *responseBuilder) lastModified() time.Time {
	t, err := parseTime(r.header.Get("Last-Modified"))
	if err != nil || t.After(r.now) {
		return time.Time{}
	}
	return t
}

func (r *responseBuilder) applyStatus() error {
	switch code := r.out.Code; {
	case r.wire.outgoing != nil:
		return r.passOn()
	case code == 206:
		return r.partial()
	case code == 304:
		return r.notModified()
	case code == 412 && !r.req.Before.IsZero():
		r.setUnchanged()
	case code == 416 && r.wire.hasRange:
		return r.unsatisfied()
	case code >= 400:
		r.out.Fault = statusError(r.code, r.header, r.now)
	case code >= 300:
		return r.redirect()
	default:
		r.complete()
	}
	return nil
}

// complete processes a 2xx response that contains the complete object.
func (r *responseBuilder) complete() {
	r.out.Validator = r.validator()
	if selection.Excludes(r.req, "", r.out.Time) { // the server has compared the validator
		r.req.Trace.Notef("server ignored the date condition")
		r.setUnchanged()
		return
	}
	if !r.wire.hasRange {
		return
	}
	if first := r.req.Range.First; r.req.IfSame == "" && first > 0 && r.out.Size == first {
		r.req.Trace.Notef("server does not support ranges: the object ends where the range begins")
		r.out.Offset = first
		r.discardBody()
		return
	}
	if r.req.IfSame == "" {
		r.req.Trace.Notef("server does not support ranges: complete object sent")
	} else {
		r.req.Trace.Notef("object has changed, or server does not support ranges: complete object sent")
	}
	if r.req.Range.End > 0 && r.out.Size > r.req.Range.End {
		r.out.Size = -1 // the server sends more than the requested range
	}
}

func (r *responseBuilder) notModified() error {
	conditional := hasField(r.wire.header, "If-None-Match") || hasField(r.wire.header, "If-Modified-Since")
	if !conditional {
		return fetch.Protocol.Errorf("status 304 for a request without a condition")
	}
	r.out.Size = -1
	r.out.Validator = r.validator()
	r.setUnchanged()
	return nil
}

func (r *responseBuilder) setUnchanged() {
	r.out.Unchanged = true
	r.discardBody()
}

// discardBody closes the response body and replaces it by an empty body.
func (r *responseBuilder) discardBody() {
	r.out.Body.Close()
	r.out.Body = http.NoBody
}

// redirect sets Response.Location if the status code is a redirect (RFC 9110
// 15.4).
func (r *responseBuilder) redirect() error {
	switch r.out.Code {
	case 300, 301, 302, 303, 307, 308:
	default:
		return nil
	}
	text := http1.Trim(r.header.Get("Location"))
	if text == "" {
		return nil
	}
	u, repaired, err := resolveLocation(r.req.URL, text)
	if err != nil && !r.req.NoFollow {
		return err
	}
	if repaired {
		r.req.Trace.Notef("Location is not a valid URI: repaired")
	}
	r.out.Location = u
	return nil
}
