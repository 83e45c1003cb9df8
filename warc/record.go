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

// A Type is the type of a WARC record (WARC 1.1 section 6): [Info], [Response],
// [Resource], [Request], [Metadata], [Revisit], [Conversion] or [Continuation]. A
// [Reader] also returns other values, in lower case.
type Type string

// The types of records. The methods of [Capture] return most of them.
const (
	Info         Type = "warcinfo"
	Response     Type = "response"
	Resource     Type = "resource"
	Request      Type = "request"
	Metadata     Type = "metadata"
	Revisit      Type = "revisit"
	Conversion   Type = "conversion"   // can be read and written, but no method of Capture returns this type
	Continuation Type = "continuation" // can be read; Writer rejects this type
)

// Values of the field WARC-Profile in revisit records (WARC 1.1 section 6.7).
const (
	IdenticalPayload  = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
	ServerNotModified = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
)

// FieldsMedia is the media type of a block that contains a list of fields, such
// as the result of FieldList (WARC 1.1 section 6).
const FieldsMedia = "application/warc-fields"

const (
	requestMedia  = "application/http;msgtype=request"
	responseMedia = "application/http;msgtype=response"
)

// Values of the field WARC-Truncated (WARC 1.1 section 5.15).
const (
	TruncatedByLength     = "length"
	TruncatedByTime       = "time"
	TruncatedByDisconnect = "disconnect"
	TruncatedUnspecified  = "unspecified"
)

// A Capture describes one exchange with a server, such as an HTTP request and
// its response. All records of the exchange share the fields of the Capture.
type Capture struct {
	// URL is the captured URL. The field WARC-Target-URI contains it without
	// its fragment and password. Only a metadata record may have a zero URL.
	URL uri.URI

	// Date is the start time of the exchange. It is written in UTC with its
	// full precision. If Date is zero, the Writer uses the current time,
	// rounded to microseconds.
	Date time.Time

	IP        netip.Addr // address of the server, or zero if unknown, for example if a proxy was used
	Protocols []string   // identifiers such as "h2", "tls/1.3" and "gopher"; each is a WARC-Protocol field
	Cipher    string     // name of the TLS cipher suite in the IANA registry
}

// A Record is a WARC record for [Writer.Write]. Callers usually create it with
// a method of [Capture] and then set additional fields. Write does not modify
// the Record.
type Record struct {
	Capture
	Type  Type
	ID    string // WARC-Record-ID without brackets; if empty, the Writer creates a urn:uuid
	Media string // Content-Type of the block, or ""

	// Body is the block, or nil if the block is empty. The block begins at the
	// current position of Body. If Body is an io.Seeker, the Writer reads it
	// twice. It computes Size and the digests that are empty. The bodies of
	// package warc/record can contain their digests, and are then read once.
	//
	// If Body is not an io.Seeker, the fields Size and BlockDigest are
	// required. A resource record also requires PayloadDigest. The syntax of
	// digests is described at [SHA1] and [SHA256]. Write fails if Body is
	// shorter than Size or if the block digest does not match.
	Body io.Reader
	Size int64 // bytes in Body; ignored if Body is an io.Seeker

	BlockDigest   string // digest of the block, such as "sha1:DIGEST"; if empty, the Writer computes it
	PayloadDigest string // digest of the payload; in a revisit record, digest of the original payload

	Truncated string // reason why the block is incomplete, such as TruncatedByLength, or ""
	Profile   string // profile of a revisit record: IdenticalPayload or ServerNotModified

	// RefersTo identifies the original record of a revisit record, or the
	// record that a metadata record describes.
	RefersTo Reference

	Fields fetch.Header // additional header fields; no fields that the Writer sets, such as Content-Length
}

// A Reference identifies another record by its ID, URL and date. Fields with
// unknown values are zero. A record stores the date in whole seconds.
type Reference struct {
	ID   string // WARC-Record-ID without brackets
	URL  uri.URI
	Date time.Time
}

// Request returns a request record for an HTTP exchange. The block contains the
// bytes of the request. An HTTP/2 request is stored as the equivalent HTTP/1.1
// request.
func (c Capture) Request(block io.Reader) *Record {
	return &Record{Capture: c, Type: Request, Media: requestMedia, Body: block}
}

// Response returns a response record for an HTTP exchange. The block contains
// the bytes of the response, starting with the status line. If block is an
// io.Seeker, the Writer omits interim responses (1xx), because other software
// expects the final response first.
func (c Capture) Response(block io.Reader) *Record {
	return &Record{Capture: c, Type: Response, Media: responseMedia, Body: block}
}

// Resource returns a resource record for an object of a scheme other than HTTP.
// The media type may be empty.
func (c Capture) Resource(media string, object io.Reader) *Record {
	return &Record{Capture: c, Type: Resource, Media: media, Body: object}
}

// Metadata returns a metadata record, which describes the first record of its
// group. The block is often a list of fields with the media type [FieldsMedia].
// Most indexing software skips metadata records only if they have this media
// type.
func (c Capture) Metadata(media string, block io.Reader) *Record {
	return &Record{Capture: c, Type: Metadata, Media: media, Body: block}
}

// Revisit returns a revisit record with the profile [IdenticalPayload]. Write
// it instead of a payload that equals the payload of the record first. The
// digest is the digest of this payload. The parameter head is the header of the
// HTTP response, or nil for other schemes.
func (c Capture) Revisit(first Reference, digest string, head io.Reader) *Record {
	return c.revisit(IdenticalPayload, first, digest, head)
}

// NotModified returns a revisit record with the profile [ServerNotModified]. It
// records that the object has not changed since the record first, according to
// the server. The digest is the payload digest of first, or "" if unknown. The
// parameter head is the header of the HTTP response, or nil for other schemes.
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

// FieldList encodes fields as the block of a metadata record with the media
// type [FieldsMedia]. It replaces line breaks in values with spaces.
func FieldList(fields fetch.Header) io.Reader {
	var b []byte
	for _, f := range fields {
		parts := strings.FieldsFunc(f.Value, func(r rune) bool { return !singleLine(string(r)) })
		b = appendField(b, f.Name, strings.Join(parts, " "))
	}
	return bytes.NewReader(b)
}

// Failure returns a metadata record for an exchange that failed with err. WARC
// 1.1 defines no record type for failures. The block contains the fields fault
// and error. If the server sent a numeric code, the block contains it in the
// field code. The fields in more follow.
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
