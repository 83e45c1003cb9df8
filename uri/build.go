package uri

import "strings"

// Parts holds the components of a URI without decoding their
// percent-encodings. An optional component is present if it is not empty or if
// its Has field, such as HasQuery, is true. The path is always present but may
// be empty.
type Parts struct {
	Scheme   string // as written, or "" for a relative reference
	Userinfo string // without "@"; may contain a password
	Host     string // with the brackets of an IP literal
	Port     string // without ":"
	Path     string
	Query    string // without "?"
	Fragment string // without "#"

	HasAuthority, HasUserinfo, HasPort, HasQuery, HasFragment bool

	zonedHost string // the host if it has a zone identifier, which Build then accepts
}

// Parts returns the components of u.
func (u URI) Parts() (p Parts) {
	p.Scheme = u.s[:u.scheme]
	p.HasAuthority = u.auth
	p.Userinfo, p.HasUserinfo = u.Userinfo()
	p.Host = u.Host()
	p.Port, p.HasPort = u.Port()
	p.Path = u.Path()
	p.Query, p.HasQuery = u.Query()
	p.Fragment, p.HasFragment = u.Fragment()
	if u.hasZone() {
		p.zonedHost = p.Host
	}
	return p
}

// Build composes a URI or a relative reference from its components (RFC 3986
// section 5.3). It returns an error if the resulting string would not parse
// into the same components. For example, a path "//x" without an authority
// would be parsed as the host "x".
//
// A non-empty Userinfo, Host or Port implies an authority. Build accepts a zone
// identifier only if p was returned by [URI.Parts] and its Host is unchanged.
// The error is an [*Error] with an offset in the composed string.
func Build(p Parts) (URI, error) {
	p = p.setHasFields()
	u, err := p.compose(p.zonedHost != "" && p.zonedHost == p.Host)
	if err != nil {
		return URI{}, err
	}
	if part, at := u.mismatch(p); part != "" {
		return URI{}, &Error{at, part + " would be parsed as another component"}
	}
	return u, nil
}

// String returns the composed URI with the password hidden. If p is not a valid
// URI, String returns the error text of [Build].
func (p Parts) String() string {
	u, err := Build(p)
	if err != nil {
		return err.Error()
	}
	return u.String()
}

// setHasFields returns a copy of p in which HasQuery and similar fields are
// true for all non-empty components.
func (p Parts) setHasFields() Parts {
	p.HasUserinfo = p.HasUserinfo || p.Userinfo != ""
	p.HasPort = p.HasPort || p.Port != ""
	p.HasAuthority = p.HasAuthority || p.HasUserinfo || p.HasPort || p.Host != ""
	p.HasQuery = p.HasQuery || p.Query != ""
	p.HasFragment = p.HasFragment || p.Fragment != ""
	return p
}

// compose joins the components of p into a string (RFC 3986 section 5.3) and
// parses the string. The caller must call setHasFields first.
func (p Parts) compose(zones bool) (URI, error) {
	size := len("://@:?#")
	for _, part := range []string{p.Scheme, p.Userinfo, p.Host, p.Port, p.Path, p.Query, p.Fragment} {
		if size += len(part); uint64(size) >= maxLen {
			return URI{}, &Error{0, "too long"}
		}
	}
	var b strings.Builder
	b.Grow(size)
	if p.Scheme != "" {
		b.WriteString(p.Scheme)
		b.WriteByte(':')
	}
	if p.HasAuthority {
		b.WriteString("//")
		if p.HasUserinfo {
			b.WriteString(p.Userinfo)
			b.WriteByte('@')
		}
		b.WriteString(p.Host)
		if p.HasPort {
			b.WriteByte(':')
			b.WriteString(p.Port)
		}
	}
	b.WriteString(p.Path)
	if p.HasQuery {
		b.WriteByte('?')
		b.WriteString(p.Query)
	}
	if p.HasFragment {
		b.WriteByte('#')
		b.WriteString(p.Fragment)
	}
	return parse(b.String(), zones)
}

// mismatch compares the components of u and p. It returns the name and the
// offset of the first component that differs, or "" if all components are
// equal.
func (u URI) mismatch(p Parts) (part string, at int) {
	q := u.Parts()
	switch {
	case q.Scheme != p.Scheme:
		return "scheme", 0
	case q.HasAuthority != p.HasAuthority:
		return "path", int(u.scheme)
	case q.Userinfo != p.Userinfo || q.HasUserinfo != p.HasUserinfo:
		return "userinfo", int(u.authority())
	case q.Host != p.Host:
		return "host", int(u.host)
	case q.Port != p.Port || q.HasPort != p.HasPort:
		return "port", int(u.port)
	case q.Path != p.Path:
		return "path", int(u.path)
	case q.Query != p.Query || q.HasQuery != p.HasQuery:
		return "query", int(u.query)
	case q.Fragment != p.Fragment || q.HasFragment != p.HasFragment:
		return "fragment", int(u.fragment)
	}
	return "", 0
}

// hasZone reports whether the host of u has an IPv6 zone identifier.
func (u URI) hasZone() bool {
	return u.kind == IPv6 && strings.IndexByte(u.Host(), '%') >= 0
}
