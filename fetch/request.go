package fetch

import (
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"strings"
	"time"

	"github.com/anyurl/fetch/uri"
)

// Op is the operation that a Request performs.
type Op uint8

const (
	Get  Op = iota // retrieve the object
	Stat           // retrieve metadata only
)

// String returns the name of op for errors and logs.
func (op Op) String() string {
	if op == Stat {
		return "stat"
	}
	return "get"
}

// A Request is a request for one object. Only URL is required. The Client and
// its drivers do not change a Request, so the caller can use it again.
type Request struct {
	URL  uri.URI
	From *Source // the document or redirect that supplied the URL; nil if the user typed it
	Op   Op

	Range Range // the part to retrieve; the zero Range is the complete object

	// IfSame and IfNot are validators in the form of Response.Validator. With
	// IfSame, the range is retrieved only if the object still has this
	// validator. Otherwise the complete object is returned, with Offset 0.
	// With IfNot, an object that has this validator is not retrieved.
	IfSame, IfNot string
	Since         time.Time // retrieve only if modified later; else Response.Unchanged is true
	Before        time.Time // retrieve only if not modified later

	Header Header      // for schemes that have header fields
	Auth   *Credential // if nil, the userinfo of the URL or the result of Env.Login

	NoFollow  bool   // return a redirect instead of following it
	ErrorBody bool   // return the server's error page instead of an error
	Trace     *Trace // receives events of the request; may be nil

	client *Client // the Client that carries out the request

	leftOrigin  bool   // a redirect has left the origin that Auth is for
	typedOrigin Origin // the origin of the typed URL at which the redirects began, or zero
	sawTLS      bool   // a URL in the chain of redirects used TLS
}

// Clone returns a copy of r with its own Header.
func (r *Request) Clone() *Request {
	c := *r
	c.Header = append(Header(nil), r.Header...)
	return &c
}

// Scheme returns the data of the scheme of r.URL, for middlewares. It returns
// the zero Scheme if the Client does not have the scheme, or if no Client has
// carried out r.
func (r *Request) Scheme() Scheme {
	if r.client == nil {
		return Scheme{}
	}
	return r.client.Scheme(r.URL.Scheme())
}

// Typed reports whether the user typed the URL, so that no server supplied it.
func (r *Request) Typed() bool { return r.From == nil }

// A Source identifies the document that supplied a URL. If Peer is zero, the
// Policy uses the address in the host of URL, or else treats the server as a
// public one. Peer is zero for a proxy or a gateway.
type Source struct {
	URL  uri.URI
	Peer netip.Addr
}

// address returns the address of s, or the zero Addr if it is unknown.
func (s *Source) address() netip.Addr {
	if !s.Peer.IsValid() {
		addr, _ := s.URL.Addr()
		return addr
	}
	return s.Peer
}

// A Range is a part of an object in bytes, from First up to but not including
// End. If End is 0, the range extends to the end of the object. A negative
// First counts from the end. The zero Range is the complete object.
type Range struct{ First, End int64 }

// IsZero reports whether r is the complete object.
func (r Range) IsZero() bool { return r == Range{} }

// Bounds returns the bounds of r in an object of size bytes. It returns false
// if r begins after the end of the object.
func (r Range) Bounds(size int64) (first, end int64, ok bool) {
	first, end = r.First, r.End
	if first < 0 {
		first, end = max(size+first, 0), size
	}
	if end <= 0 || end > size {
		end = size
	}
	return first, end, first < end || first == 0 && size == 0
}

// Header is a list of header fields in the order of the message.
type Header []Field

// Field is one header field. Names are compared without regard to case.
type Field struct{ Name, Value string }

// Is reports whether f has the given name.
func (f Field) Is(name string) bool {
	return len(f.Name) == len(name) && (f.Name == name || strings.EqualFold(f.Name, name))
}

// Get returns the first value of the field name, or "".
func (h Header) Get(name string) string {
	for _, f := range h {
		if f.Is(name) {
			return f.Value
		}
	}
	return ""
}

// Values returns all values of the field name.
func (h Header) Values(name string) (values []string) {
	for _, f := range h {
		if f.Is(name) {
			values = append(values, f.Value)
		}
	}
	return values
}

// Without returns a copy of h without the fields for which drop returns true.
func (h Header) Without(drop func(name string) bool) Header {
	var kept Header
	for _, f := range h {
		if !drop(f.Name) {
			kept = append(kept, f)
		}
	}
	return kept
}

// An Origin is the server that a credential is valid for.
type Origin struct {
	Scheme string
	Host   string
	Port   uint16
}

// A Credential is the login of a user at one Origin. If Origin is zero, the
// Client sets it to the origin of Request.URL. The Client sends a Credential to
// no other origin.
type Credential struct {
	Origin   Origin
	User     string
	Password Secret
	Account  Secret // for the ftp command ACCT
	Token    Secret // bearer token

	// Mechanism is the SASL mechanism that an imap URL names (RFC 5092 section
	// 3.2), or "*" for any. The driver chooses a mechanism if it is "". User
	// may be empty if Mechanism is set.
	Mechanism string
}

// A Secret is a string that is masked when it is printed, logged or marshaled.
type Secret string

// String returns "***", or "" if s is empty.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "***"
}

// Format writes the masked form of s for every verb. Fmt calls no methods on
// unexported fields, so a Secret in an unexported field is not masked.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// MarshalText returns the masked form of s.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue returns the masked form of s.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Reveal returns the text of s.
func (s Secret) Reveal() string { return string(s) }
