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

// Op says what is wanted of the object.
type Op uint8

const (
	Get  Op = iota // the object
	Stat           // what is known of it without its body
)

// String is the name of op in errors and logs.
func (op Op) String() string {
	if op == Stat {
		return "stat"
	}
	return "get"
}

// A Request asks for one object. Only URL is required. A Request is not
// changed by those it is given to, and may be used again.
type Request struct {
	URL  uri.URI
	From *Source // the page, menu or redirect that led here; nil: a person typed the URL
	Op   Op

	Range Range // the part that is wanted; the zero Range is the whole

	// Validators, in the form that Response.Validator has: IfSame goes on only
	// with the same object, IfNot only with another one. Where IfSame does not
	// hold, the whole object comes from its beginning (Offset 0).
	IfSame, IfNot string
	Since         time.Time // only if changed after it; else Response.Unchanged
	Before        time.Time // only if not changed after it

	Header Header      // for schemes that have headers
	Auth   *Credential // nil: the URL's userinfo, or what Env.Login knows

	NoFollow  bool   // return a redirect instead of following it
	ErrorBody bool   // return the server's error page instead of an error
	Trace     *Trace // nil: nobody listens

	client *Client // that carries it out

	leftOrigin  bool   // a redirect has left the origin that Auth was for
	typedOrigin Origin // of the typed URL that redirects began at; zero: none
	sawTLS      bool   // a URL of the redirects was under TLS
}

// Clone returns a copy that shares nothing that a caller could change.
func (r *Request) Clone() *Request {
	c := *r
	c.Header = append(Header(nil), r.Header...)
	return &c
}

// Scheme returns the data of the scheme of r.URL, for middlewares. It is zero if
// no Client carries r out, or if the Client does not have the scheme.
func (r *Request) Scheme() Scheme {
	if r.client == nil {
		return Scheme{}
	}
	return r.client.Scheme(r.URL.Scheme())
}

// Typed reports whether no server had a say in the URL.
func (r *Request) Typed() bool { return r.From == nil }

// A Source is where a URL was found. A zero Peer (behind a proxy or a gateway, or
// not remembered) is judged as the address that URL spells, or as a public one.
type Source struct {
	URL  uri.URI
	Peer netip.Addr
}

// place is the address of s, where it is known.
func (s *Source) address() netip.Addr {
	if !s.Peer.IsValid() {
		addr, _ := s.URL.Addr()
		return addr
	}
	return s.Peer
}

// A Range is a part of an object in bytes: from First up to but not including
// End. End 0 means to the end of the object, and a negative First counts from
// it. The zero Range is the whole object.
type Range struct{ First, End int64 }

// IsZero reports whether r is the whole object.
func (r Range) IsZero() bool { return r == Range{} }

// Of returns the bounds of r in an object of size bytes, and false where r
// lies behind its end.
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

// Header is a list of fields in the order in which they are sent or came.
type Header []Field

// Field is one header field. Its name is compared without regard to case.
type Field struct{ Name, Value string }

// Is reports whether name is that of f.
func (f Field) Is(name string) bool {
	return len(f.Name) == len(name) && (f.Name == name || strings.EqualFold(f.Name, name))
}

// Get returns the first value of name, or "".
func (h Header) Get(name string) string {
	for _, f := range h {
		if f.Is(name) {
			return f.Value
		}
	}
	return ""
}

// Values returns every value of name.
func (h Header) Values(name string) (values []string) {
	for _, f := range h {
		if f.Is(name) {
			values = append(values, f.Value)
		}
	}
	return values
}

// Without returns h less the fields for which drop is true; h is not changed.
func (h Header) Without(drop func(name string) bool) Header {
	var kept Header
	for _, f := range h {
		if !drop(f.Name) {
			kept = append(kept, f)
		}
	}
	return kept
}

// An Origin is the party that a credential is meant for.
type Origin struct {
	Scheme string
	Host   string
	Port   uint16
}

// A Credential is a user's proof to one Origin. Where Origin is zero, the
// Client binds it to the URL of the Request; no other origin ever gets it.
type Credential struct {
	Origin   Origin
	User     string
	Password Secret
	Account  Secret // ftp's ACCT
	Token    Secret // a bearer token

	// Mechanism is how an imap URL asks to log in (RFC 5092 3.2): the name of
	// a SASL mechanism, or "*" for any; "" is the driver's choice. User may be
	// empty beside it.
	Mechanism string
}

// A Secret is a string that no print, log or record shows.
type Secret string

// String is "***", or empty where there is no secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "***"
}

// Format masks s whatever the verb. A struct that holds s in an unexported
// field is out of its reach: fmt calls no methods there.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// MarshalText masks s in records.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue masks s in logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Reveal is the only way to the text of s.
func (s Secret) Reveal() string { return string(s) }
