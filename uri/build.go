package uri

import "strings"

// Parts are the components of a URI, still encoded. One that is not empty is
// defined; the Has fields say so of an empty one. The path is always defined.
type Parts struct {
	Scheme   string // as written; "" for a relative reference
	Userinfo string // without "@"; may hold a password
	Host     string // with the brackets of an IP literal
	Port     string // without ":"
	Path     string
	Query    string // without "?"
	Fragment string // without "#"

	HasAuthority, HasUserinfo, HasPort, HasQuery, HasFragment bool

	zoned string // the host, when it has a zone identifier: Build takes it back
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
	if u.zoned() {
		p.zoned = p.Host
	}
	return p
}

// Build composes a URI or relative reference from its components (RFC 3986
// section 5.3) and refuses any that would not be found in it again: a path
// "//x" without authority, a host with a "/" in it. Userinfo, Host and Port imply
// an authority. A zone identifier is refused, as by [ParseReference], unless p is
// of a URI that had it. The error is an [*Error], its offset that in the result.
func Build(p Parts) (URI, error) {
	p = p.define()
	u, err := p.join(p.zoned != "" && p.zoned == p.Host)
	if err != nil {
		return URI{}, err
	}
	if part, at := u.differs(p); part != "" {
		return URI{}, &Error{at, part + " does not fit there"}
	}
	return u, nil
}

// String returns the composed parts, the password hidden, if they make a URI,
// and otherwise says that they do not.
func (p Parts) String() string {
	u, err := Build(p)
	if err != nil {
		return err.Error()
	}
	return u.String()
}

// define sets the Has field of all that is not empty.
func (p Parts) define() Parts {
	p.HasUserinfo = p.HasUserinfo || p.Userinfo != ""
	p.HasPort = p.HasPort || p.Port != ""
	p.HasAuthority = p.HasAuthority || p.HasUserinfo || p.HasPort || p.Host != ""
	p.HasQuery = p.HasQuery || p.Query != ""
	p.HasFragment = p.HasFragment || p.Fragment != ""
	return p
}

// join composes and parses defined parts: RFC 3986 section 5.3.
func (p Parts) join(zones bool) (URI, error) {
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

// differs names the first component of u that is not that of p, and its place.
func (u URI) differs(p Parts) (part string, at int) {
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

// zoned reports whether the host has a zone identifier.
func (u URI) zoned() bool {
	return u.kind == IPv6 && strings.IndexByte(u.Host(), '%') >= 0
}
