package warc

import (
	"bytes"
	"errors"
	"io"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A Type is the type of a record, as in the field WARC-Type (WARC 1.1 section
// 6).
type Type string

const (
	Info         Type = "warcinfo"
	Response     Type = "response"
	Resource     Type = "resource"
	Request      Type = "request"
	Metadata     Type = "metadata"
	Revisit      Type = "revisit"
	Conversion   Type = "conversion"   // read; no method of Capture returns it
	Continuation Type = "continuation" // read; rejected by Writer
)

// Profiles of revisit records (WARC 1.1 section 6.7).
const (
	IdenticalPayload  = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
	ServerNotModified = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
)

// FieldsMedia is the media type of a list of fields, as FieldList returns it
// (WARC 1.1 section 6).
const FieldsMedia = "application/warc-fields"

const (
	requestMedia  = "application/http;msgtype=request"
	responseMedia = "application/http;msgtype=response"
)

// Reasons for the field WARC-Truncated (WARC 1.1 section 5.15).
const (
	TruncatedByLength     = "length"
	TruncatedByTime       = "time"
	TruncatedByDisconnect = "disconnect"
	TruncatedUnspecified  = "unspecified"
)

// A Capture describes one exchange with a server. All records of the exchange
// share its fields.
type Capture struct {
	// URL is the captured URL. It is written as WARC-Target-URI without its
	// fragment and password. Only a metadata record may have a zero URL.
	URL uri.URI

	// Date is the start time of the exchange. It is written in UTC with all its
	// digits, so the caller rounds it to its actual precision. If zero, the
	// Writer uses the current time in microseconds.
	Date time.Time

	IP        netip.Addr // address of the server, or zero if unknown, for example with a proxy
	Protocols []string   // identifiers such as "h2", "tls/1.3" and "gopher"; each is a WARC-Protocol field
	Cipher    string     // name of the TLS cipher suite in the IANA registry
}

// A Record is one record to be written. Callers usually start with a method of
// [Capture] and set more fields before [Writer.Write]. Write does not modify
// the Record.
type Record struct {
	Capture
	Type  Type
	ID    string // WARC-Record-ID without brackets; if empty, Write calls Options.NewID
	Media string // Content-Type of the block, or ""

	// Body is the block, from its current position to its end, or nil if the
	// block is empty. If Body is an io.Seeker, the Writer reads it twice and
	// computes Size and the digests that are empty.
	//
	// A Body that is not an io.Seeker requires Size, BlockDigest and, for a
	// resource record, PayloadDigest. A [Digester] computes them. Write fails
	// if Body is shorter than Size or has a different block digest.
	Body io.Reader
	Size int64 // bytes in Body; ignored if Body is an io.Seeker

	BlockDigest   string // labelled digest of the block; if empty, computed
	PayloadDigest string // labelled digest of the payload; in a revisit, digest of the original payload

	Truncated  string // reason why the block is incomplete, such as TruncatedByLength, or ""
	Identified string // media type detected from the payload, or ""
	Profile    string // profile of a revisit record: IdenticalPayload or ServerNotModified

	// RefersTo identifies the original record of a revisit, or the record that
	// a metadata record describes.
	RefersTo Reference

	Fields fetch.Header // additional header fields
}

// A Reference identifies a record for replay. Fields with unknown values are
// zero.
type Reference struct {
	ID   string // WARC-Record-ID without brackets
	URL  uri.URI
	Date time.Time
}

// Request returns a request record for an HTTP exchange. The block contains the
// request as sent over the network. For HTTP/2, it contains the equivalent
// HTTP/1.1 request.
func (c Capture) Request(block io.Reader) *Record {
	return &Record{Capture: c, Type: Request, Media: requestMedia, Body: block}
}

// Response returns a response record for an HTTP exchange. The block contains
// the response, starting with its status line. If block is an io.Seeker, the
// Writer omits interim responses (1xx), because other software expects the
// final response first.
func (c Capture) Response(block io.Reader) *Record {
	return &Record{Capture: c, Type: Response, Media: responseMedia, Body: block}
}

// Resource returns a resource record for an object of a scheme other than HTTP.
// Its media type may be empty.
func (c Capture) Resource(media string, object io.Reader) *Record {
	return &Record{Capture: c, Type: Resource, Media: media, Body: object}
}

// Metadata returns a metadata record, which describes the first record of its
// group. The block is a list of fields, for example. Most indexing software skips
// a metadata record only if its media type is [FieldsMedia].
func (c Capture) Metadata(media string, block io.Reader) *Record {
	return &Record{Capture: c, Type: Metadata, Media: media, Body: block}
}

// Revisit returns a revisit record with the profile [IdenticalPayload]. The
// record states that the payload equals the payload of first and has that
// digest. Head is the header of the HTTP response, or nil for other schemes.
func (c Capture) Revisit(first Reference, digest string, head io.Reader) *Record {
	return c.revisit(IdenticalPayload, first, digest, head)
}

// NotModified returns a revisit record with the profile [ServerNotModified].
// The record states that the server reported the object as unchanged since
// first. Digest is the payload digest of first, or "" if unknown. Head is the
// header of the HTTP response, or nil for other schemes.
func (c Capture) NotModified(first Reference, digest string, head io.Reader) *Record {
	return c.revisit(ServerNotModified, first, digest, head)
}

func (c Capture) revisit(profile string, first Reference, digest string, head io.Reader) *Record {
	r := &Record{Capture: c, Type: Revisit, Profile: profile, RefersTo: first, PayloadDigest: digest, Body: head}
	if head != nil {
		r.Media = responseMedia
	}
	return r
}

// FieldList returns the block of a metadata record with the media type
// [FieldsMedia]. Line breaks in values become spaces.
func FieldList(fields fetch.Header) io.Reader {
	var b []byte
	for _, f := range fields {
		parts := strings.FieldsFunc(f.Value, func(r rune) bool { return !singleLine(string(r)) })
		b = appendField(b, f.Name, strings.Join(parts, " "))
	}
	return bytes.NewReader(b)
}

// Failure returns a metadata record for an exchange that failed with err. WARC
// 1.1 defines no record type for failures. The block lists the fields fault and
// error, the field code if the server sent a numeric code, and the fields in
// more.
func (c Capture) Failure(err error, more ...fetch.Field) *Record {
	fields := fetch.Header{
		{Name: "fault", Value: fetch.FaultOf(err).String()},
		{Name: "error", Value: err.Error()},
	}
	var e *fetch.Error
	if errors.As(err, &e) && e.Code != 0 {
		fields = append(fields, fetch.Field{Name: "code", Value: strconv.Itoa(e.Code)})
	}
	return c.Metadata(FieldsMedia, FieldList(append(fields, more...)))
}
