package uri

import (
	"log/slog"
	"strconv"
	"strings"
)

// A URI is an immutable URI or relative reference (RFC 3986 section 4.1): the
// string as it was given and where its components lie in it. Nothing is decoded
// and nothing is changed; accessors return substrings of the original.
//
// The zero value is no URI at all; it differs from the empty reference, which
// ParseReference("") returns. URIs are comparable: a == b when they are the same
// bytes. A URI is safe for concurrent use.
//
// String, GoString, MarshalText and LogValue hide the password, so fmt, log,
// slog and encoding/json do; [URI.Unredacted] and the accessors show it. One gap
// is left: fmt calls no method of an unexported field, so a struct that has a URI
// in one must not be printed with %v.
type URI struct {
	s        string
	scheme   uint32 // length of the scheme; 0: a relative reference
	host     uint32 // start of the host, past '[userinfo "@"]'
	port     uint32 // end of the host: ':' of a port, or equal to path
	path     uint32 // start of the path
	query    uint32 // end of the path: '?' of a query, or equal to fragment
	fragment uint32 // end of the query: '#' of a fragment, or len(s)
	kind     HostKind
	auth     bool // there is an authority
	parsed   bool // not the zero URI
}

// IsZero reports whether u is the zero URI, that is, none.
func (u URI) IsZero() bool { return !u.parsed }

// Unredacted returns the bytes that were parsed, exactly, password included.
func (u URI) Unredacted() string { return u.s }

// String returns the URI with the password of its userinfo, if it has one,
// shown as "***". The same is done to a mistyped login in a URI that has no
// host, such as "http:user:secret@host/". The result parses, and is
// [URI.Unredacted] when there is no password. [Redact] masks the secrets of a
// query as well.
func (u URI) String() string {
	if u.scheme > 0 && u.host == u.port && hosted(u.s[:u.scheme]) {
		if from, to := new(token).password(u.s, 0, int(u.scheme)+1); from < to {
			return u.s[:from] + mask + u.s[to:]
		}
		return u.s
	}
	info, ok := u.Userinfo()
	if !ok {
		return u.s
	}
	colon := strings.IndexByte(info, ':')
	if colon < 0 {
		return u.s
	}
	return u.s[:u.authority()+uint32(colon)+1] + mask + u.s[u.host-1:]
}

// GoString returns a Go expression for u, password hidden.
func (u URI) GoString() string {
	if u.IsZero() {
		return "uri.URI{}"
	}
	return "uri.MustParse(" + strconv.Quote(u.String()) + ")"
}

// MarshalText returns [URI.String]. There is no UnmarshalText: what was hidden
// does not come back.
func (u URI) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// LogValue returns [URI.String] for log/slog.
func (u URI) LogValue() slog.Value { return slog.StringValue(u.String()) }

// Scheme returns the scheme in lower case, or "" for a relative reference.
// [URI.Parts] has it as it was written.
func (u URI) Scheme() string { return strings.ToLower(u.s[:u.scheme]) }

// HasAuthority reports whether there is an authority, even an empty one.
func (u URI) HasAuthority() bool { return u.auth }

// Authority returns all between "//" and the path, and whether it is defined.
func (u URI) Authority() (string, bool) {
	if !u.auth {
		return "", false
	}
	return u.s[u.authority():u.path], true
}

// Userinfo returns what stands before the "@" of the authority, and whether it
// is defined. It may hold a password: see [URI.User].
func (u URI) Userinfo() (string, bool) {
	if !u.auth || u.host == u.authority() {
		return "", false
	}
	return u.s[u.authority() : u.host-1], true
}

// User returns the halves of the userinfo, split at its first ":" and still
// encoded. Without userinfo all are zero.
func (u URI) User() (name, password string, hasPassword bool) {
	info, _ := u.Userinfo()
	return strings.Cut(info, ":")
}

// Host returns the host as it was written, brackets included: "example.com",
// "192.0.2.1", "[2001:db8::1]". It is "" when empty and when there is no
// authority; [URI.HasAuthority] tells which.
func (u URI) Host() string { return u.s[u.host:u.port] }

// Port returns the digits of the port and whether it is defined. "h:" has a
// port, which is empty. Any number of digits is allowed by the syntax.
func (u URI) Port() (string, bool) {
	if u.port == u.path {
		return "", false
	}
	return u.s[u.port+1 : u.path], true
}

// Path returns the path, still encoded. It is always defined; it may be empty.
func (u URI) Path() string { return u.s[u.path:u.query] }

// Query returns what follows "?", and whether it is defined.
func (u URI) Query() (string, bool) {
	if u.query == u.fragment {
		return "", false
	}
	return u.s[u.query+1 : u.fragment], true
}

// Fragment returns what follows "#", and whether it is defined.
func (u URI) Fragment() (string, bool) {
	if int(u.fragment) == len(u.s) {
		return "", false
	}
	return u.s[u.fragment+1:], true
}

// authority returns the start of the authority, which must exist.
func (u URI) authority() uint32 {
	if u.scheme == 0 {
		return 2
	}
	return u.scheme + 3
}
