package uri

import (
	"log/slog"
	"strconv"
	"strings"
)

// A URI is an immutable URI or relative reference (RFC 3986 section 4.1). Its
// methods return components as substrings of the original string, without
// decoding them.
//
// The zero value is not a valid URI. It differs from the empty reference, which
// ParseReference("") returns. The operator == compares the strings of two URIs.
// A URI is safe for concurrent use.
//
// String, GoString, MarshalText and LogValue hide the password. Therefore
// packages fmt, log, log/slog and encoding/json hide the password too.
// [URI.Unredacted] and [URI.User] return the password. Do not print a struct
// with an unexported URI field using %v, because fmt does not call methods of
// unexported fields.
type URI struct {
	s        string
	scheme   uint32 // length of the scheme, or 0 for a relative reference
	host     uint32 // start of the host, after any userinfo and "@"
	port     uint32 // end of the host: the ":" before the port, or equal to path
	path     uint32 // start of the path
	query    uint32 // end of the path: the "?" before the query, or equal to fragment
	fragment uint32 // end of the query: the "#" before the fragment, or len(s)
	kind     HostKind
	auth     bool // the URI has an authority
	parsed   bool // false only for the zero URI
}

// IsZero reports whether u is the zero value, which is not a valid URI.
func (u URI) IsZero() bool { return !u.parsed }

// Unredacted returns the exact string that was parsed, including any password.
func (u URI) Unredacted() string { return u.s }

// String returns the URI with its password replaced by "***". The password is
// also hidden in a mistyped URI without a host, such as
// "http:user:secret@host/". The result is a valid URI. [Redact] also hides
// secrets in query parameters.
func (u URI) String() string {
	if u.scheme > 0 && u.host == u.port && schemeHasHost(u.s[:u.scheme]) {
		if from, to := new(token).password(u.s, 0, int(u.scheme)+1); from < to {
			return u.s[:from] + mask + u.s[to:]
		}
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

// GoString returns a Go expression for u with the password hidden.
func (u URI) GoString() string {
	if u.IsZero() {
		return "uri.URI{}"
	}
	return "uri.MustParse(" + strconv.Quote(u.String()) + ")"
}

// MarshalText returns the text of [URI.String], which hides the password. The
// type has no UnmarshalText, because the password could not be restored.
func (u URI) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// LogValue implements [slog.LogValuer]. It returns the text of [URI.String],
// which hides the password.
func (u URI) LogValue() slog.Value { return slog.StringValue(u.String()) }

// Scheme returns the scheme in lower case, or "" for a relative reference.
// [URI.Parts] returns the scheme as written.
func (u URI) Scheme() string { return strings.ToLower(u.s[:u.scheme]) }

// HasAuthority reports whether u contains "//" and an authority. The authority
// may be empty.
func (u URI) HasAuthority() bool { return u.auth }

// Authority returns the text between "//" and the path, and whether u has an
// authority.
func (u URI) Authority() (string, bool) {
	if !u.auth {
		return "", false
	}
	return u.s[u.authority():u.path], true
}

// Userinfo returns the part of the authority before "@", and whether the
// authority contains "@". The userinfo may contain a password, which [URI.User]
// separates.
func (u URI) Userinfo() (string, bool) {
	if !u.auth || u.host == u.authority() {
		return "", false
	}
	return u.s[u.authority() : u.host-1], true
}

// User returns the user name and the password from u. It splits the userinfo at
// the first ":" and does not decode percent-encodings. All results are zero if
// u has no userinfo.
func (u URI) User() (name, password string, hasPassword bool) {
	info, _ := u.Userinfo()
	return strings.Cut(info, ":")
}

// Host returns the host without decoding it. An IP literal keeps its brackets,
// as in "[2001:db8::1]". Host returns "" if the host is empty or u has no
// authority. [URI.HasAuthority] distinguishes the two cases.
func (u URI) Host() string { return u.s[u.host:u.port] }

// Port returns the digits of the port, and whether a ":" follows the host. The
// port of "//h:" is present but empty. RFC 3986 does not limit the number of
// digits.
func (u URI) Port() (string, bool) {
	if u.port == u.path {
		return "", false
	}
	return u.s[u.port+1 : u.path], true
}

// Path returns the path without decoding it. The path may be empty.
func (u URI) Path() string { return u.s[u.path:u.query] }

// Query returns the text between "?" and the fragment, and whether u has a
// query.
func (u URI) Query() (string, bool) {
	if u.query == u.fragment {
		return "", false
	}
	return u.s[u.query+1 : u.fragment], true
}

// Fragment returns the text after "#", and whether u has a fragment.
func (u URI) Fragment() (string, bool) {
	if int(u.fragment) == len(u.s) {
		return "", false
	}
	return u.s[u.fragment+1:], true
}

// authority returns the offset of the authority in u. u must have an authority.
func (u URI) authority() uint32 {
	if u.scheme == 0 {
		return 2
	}
	return u.scheme + 3
}
