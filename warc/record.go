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

// Type is the kind of a record (WARC 1.1 section 6), as WARC-Type spells it.
type Type string

const (
	Info         Type = "warcinfo"
	Response     Type = "response"
	Resource     Type = "resource"
	Request      Type = "request"
	Metadata     Type = "metadata"
	Revisit      Type = "revisit"
	Conversion   Type = "conversion"   // read, never written by this package's makers
	Continuation Type = "continuation" // read, refused by Writer
)

// The profiles of revisit records (WARC 1.1 section 6.7).
const (
	SamePayload = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
	NotModified = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
)

// Media types of blocks.
const (
	RequestMedia  = "application/http;msgtype=request"
	ResponseMedia = "application/http;msgtype=response"
	FieldsMedia   = "application/warc-fields"
)

// Reasons for WARC-Truncated (WARC 1.1 section 5.13).
const (
	ByLength     = "length"
	ByTime       = "time"
	ByDisconnect = "disconnect"
	ByOther      = "unspecified"
)

// Capture is what the records of one exchange have in common.
type Capture struct {
	// URL becomes WARC-Target-URI, without fragment and password. It is zero
	// only for records that are about no object.
	URL uri.URI

	// Date is when the exchange began, written in UTC with the digits it
	// has: round it to what is known. Zero: the Writer's clock, to the
	// microsecond.
	Date time.Time

	IP        netip.Addr // of the server; zero: unknown, or behind a proxy
	Protocols []string   // identifiers as "h2", "tls/1.3", "gopher": a field each
	Cipher    string     // TLS cipher suite, by its name in the registry of IANA
}

// A Record is one record to be written. The methods of Capture make those of
// common shape; their result may be completed before it is written.
type Record struct {
	Capture
	Type  Type
	ID    string // a URI without brackets; "": the Writer makes a urn:uuid:
	Media string // Content-Type of the block; "": it has none

	// Body is the block: nil is empty. Where it is an io.Seeker it is read
	// twice, first to digest it, from where it stands to its end. Any other
	// must come with Size, BlockDigest and, where the type has a payload,
	// PayloadDigest: see Digester. It is held to what they say.
	Body io.Reader
	Size int64 // of Body, unless it is an io.Seeker

	BlockDigest   string // "": made, unless Body cannot be read twice
	PayloadDigest string // "": made where the type has a payload; of a revisit: that of the first visit

	Truncated  string // why the block is not whole: ByLength, ...
	Identified string // media type of the payload by its looks
	Profile    string // of a revisit: SamePayload or NotModified

	// RefersTo is the earlier record that a revisit repeats, or the one that
	// a metadata record tells of.
	RefersTo Reference

	Fields fetch.Header // more named fields, written last
}

// A Reference names a record by what replay looks for: all that is known.
type Reference struct {
	ID   string // WARC-Record-ID without brackets
	URL  uri.URI
	Date time.Time
}

// Request is the request of an http exchange: block has the bytes of the wire,
// or those of HTTP/1.1 that say the same where the wire spoke HTTP/2.
func (c Capture) Request(block io.Reader) *Record {
	return &Record{Capture: c, Type: Request, Media: RequestMedia, Body: block}
}

// Response is the answer of an http exchange, from its status line on. Interim
// answers (1xx) before it are left out, unless block can be read only once:
// other software takes the first head for the only one.
func (c Capture) Response(block io.Reader) *Record {
	return &Record{Capture: c, Type: Response, Media: ResponseMedia, Body: block}
}

// Resource is an object of any other scheme; media may be "".
func (c Capture) Resource(media string, object io.Reader) *Record {
	return &Record{Capture: c, Type: Resource, Media: media, Body: object}
}

// Metadata tells of the first record of its group: a conversation, a list of
// fields.
func (c Capture) Metadata(media string, block io.Reader) *Record {
	return &Record{Capture: c, Type: Metadata, Media: media, Body: block}
}

// Revisit says that the payload with that digest was brought again, after
// first. Head is the head of the http answer, nil for other schemes.
func (c Capture) Revisit(first Reference, digest string, head io.Reader) *Record {
	return c.revisit(SamePayload, first, digest, head)
}

// Unmodified says that the server told that the object is still that of first.
// Digest is that of its payload where known; head as for Revisit.
func (c Capture) Unmodified(first Reference, digest string, head io.Reader) *Record {
	return c.revisit(NotModified, first, digest, head)
}

func (c Capture) revisit(profile string, first Reference, digest string, head io.Reader) *Record {
	r := &Record{Capture: c, Type: Revisit, Profile: profile, RefersTo: first, PayloadDigest: digest, Body: head}
	if head != nil {
		r.Media = ResponseMedia
	}
	return r
}

// FieldList is the block of a metadata record of FieldsMedia. Line ends in
// values become spaces.
func FieldList(fields fetch.Header) io.Reader {
	var b []byte
	for _, f := range fields {
		b = appendField(b, f.Name, strings.Join(strings.FieldsFunc(f.Value, func(r rune) bool { return !plain(string(r)) }), " "))
	}
	return bytes.NewReader(b)
}

// Failure tells why an exchange brought nothing: there is no agreed record for
// that, so it is metadata with the fields fault, error and, where the server
// has numbers, code; more of the caller's follow.
func (c Capture) Failure(err error, more ...fetch.Field) *Record {
	fields := fetch.Header{{Name: "fault", Value: fetch.FaultOf(err).String()}, {Name: "error", Value: err.Error()}}
	var e *fetch.Error
	if errors.As(err, &e) && e.Code != 0 {
		fields = append(fields, fetch.Field{Name: "code", Value: strconv.Itoa(e.Code)})
	}
	return c.Metadata(FieldsMedia, FieldList(append(fields, more...)))
}
