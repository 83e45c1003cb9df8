package fetch

import (
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/wire/outgoing"
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

// A Request describes one object to retrieve. Only the field URL is required.
// The Client does not change a Request, so the caller can use it again.
type Request struct {
	URL  uri.URI
	From *Source // the document or redirect that supplied the URL; nil if the user entered the URL
	Op   Op

	// Range is the part to retrieve. The zero Range is the complete object. A
	// server or a protocol may ignore a Range and send the complete object. The
	// Response then has the Offset 0, also if First is 0. The caller therefore
	// compares Offset with First, and reads at most the bytes of the range.
	Range Range

	// IfSame and IfNot make the request conditional. Both are validators from
	// Response.Validator, such as an HTTP entity tag. With IfSame, the server
	// sends the range only if the object still has this validator. Otherwise it
	// sends the complete object, and Response.Offset is 0. With IfNot, the
	// object is not retrieved if it still has this validator.
	IfSame, IfNot string
	Since         time.Time // retrieve only if modified later; otherwise Response.Unchanged is true
	Before        time.Time // retrieve only if not modified later

	Header Header      // for schemes that have header fields
	Auth   *Credential // if nil, the userinfo of the URL or the result of Env.Login is used

	// Outgoing is the method and the body of a request that the recording proxy
	// passes on. Only http and https support it. The Client then behaves as with
	// NoFollow and ErrorBody, and the driver returns the body without decoding.
	// It is nil in all other requests. Programs cannot create such a Message.
	Outgoing *outgoing.Message

	NoFollow  bool         // return a redirect instead of following it
	ErrorBody bool         // return the server's error page instead of an error
	Trace     *trace.Trace // receives events of the request; may be nil

	client *Client // the Client that carries out the request

	leftOrigin  bool   // a redirect has left the origin for which Auth is valid
	typedOrigin Origin // origin of the URL that the user entered and that redirected to URL; may be zero
	sawTLS      bool   // a URL in the chain of redirects used TLS
}

// Clone returns a copy of the request. Changing the Header of the copy does not
// change the Header of r.
func (r *Request) Clone() *Request {
	c := *r
	c.Header = append(Header(nil), r.Header...)
	return &c
}

// Scheme returns the Scheme of the URL of the request. Middlewares use it to
// read the properties of the scheme. Scheme returns the zero Scheme if the
// Client does not support the scheme, or if the request was not passed to a
// Client.
func (r *Request) Scheme() Scheme {
	if r.client == nil {
		return Scheme{}
	}
	return r.client.Scheme(r.URL.Scheme())
}

// operation returns the name of the operation for errors, such as "get".
func (r *Request) operation() string {
	if r.Outgoing != nil {
		return strings.ToLower(r.Outgoing.Method)
	}
	return r.Op.String()
}

// Typed reports whether the user entered the URL. It returns false if a server
// supplied the URL.
func (r *Request) Typed() bool { return r.From == nil }

// A Source identifies the document that supplied a URL, and its server. The
// Policy uses the server's IP address Peer to decide whether the document may
// link to a private address. If Peer is zero, the Policy uses an address in
// URL, or treats the server as public. Peer is zero if a proxy or a gateway
// resolved the name.
type Source struct {
	URL  uri.URI
	Peer netip.Addr
}

// address returns the IP address of the server of s, or the zero Addr if the
// address is unknown.
func (s *Source) address() netip.Addr {
	if !s.Peer.IsValid() {
		addr, _ := s.URL.Addr()
		return addr
	}
	return s.Peer
}

// A Range selects the bytes of an object from offset First up to but not
// including offset End. If End is 0, the range extends to the end of the
// object. A negative First counts from the end of the object, and End is then
// ignored. Otherwise a negative End is invalid. The zero Range selects the
// complete object.
type Range struct{ First, End int64 }

// IsZero reports whether the Range selects the complete object.
func (r Range) IsZero() bool { return r == Range{} }

// Bounds returns the offsets of the range in an object of the given size in
// bytes. It returns false if the range contains no byte of the object, unless
// the object is empty and the range starts at 0.
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

// A Header is a list of header fields in the order in which they are sent.
type Header []Field

// A Field is one header field. Its name is case-insensitive.
type Field struct{ Name, Value string }

// Is reports whether the field has the given name, ignoring case.
func (f Field) Is(name string) bool {
	return len(f.Name) == len(name) && (f.Name == name || strings.EqualFold(f.Name, name))
}

// Get returns the first value of the header field with the given name, or "" if
// there is no such field.
func (h Header) Get(name string) string {
	for _, f := range h {
		if f.Is(name) {
			return f.Value
		}
	}
	return ""
}

// Values returns all values of the header field with the given name.
func (h Header) Values(name string) (values []string) {
	for _, f := range h {
		if f.Is(name) {
			values = append(values, f.Value)
		}
	}
	return values
}

// Without returns a copy of the header without the fields for which drop
// returns true.
func (h Header) Without(drop func(name string) bool) Header {
	var kept Header
	for _, f := range h {
		if !drop(f.Name) {
			kept = append(kept, f)
		}
	}
	return kept
}

// An Origin is a scheme, host and port for which a credential is valid.
type Origin struct {
	Scheme string
	Host   string
	Port   uint16
}

// A Credential is the login of a user at one Origin. The Client sends it to no
// other origin. If Origin is zero, the Client uses the origin of Request.URL.
type Credential struct {
	Origin   Origin
	User     string
	Password Secret
	Account  Secret // for the ftp command ACCT
	Token    Secret // bearer token

	// Mechanism is the SASL mechanism in an imap URL (RFC 5092 section 3.2), or
	// "*" for any mechanism. If it is "", the driver chooses a mechanism. User
	// may be empty if Mechanism is set.
	Mechanism string

	// Incomplete is true if the user gave a name without a password, as in the URL
	// http://alice@HOST/. The driver then requests the password and never sends an
	// empty one. If Password is not "", Incomplete has no effect.
	Incomplete bool
}

// A Secret is a string that is printed, logged and marshaled as "***".
type Secret string

// String returns "***", or "" if the secret is empty.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "***"
}

// Format writes "***" for every verb. Package fmt calls no methods on
// unexported fields, so it does not mask a Secret in an unexported field.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// MarshalText returns "***", or "" if the secret is empty.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue returns the value "***", or "" if the secret is empty.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Reveal returns the secret as plain text.
func (s Secret) Reveal() string { return string(s) }
