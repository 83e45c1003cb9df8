package uri

import "bytes"

// Resolve resolves the reference ref against the base URI u (RFC 3986 section
// 5.2). A ref with a scheme is absolute, even if u has the same scheme. The
// fragment of u is ignored. Resolve returns an [*Error] if u has no scheme or
// ref is the zero URI.
func (u URI) Resolve(ref URI) (URI, error) { return RFC3986.Resolve(u, ref) }

// A Mode selects the specification by which references are resolved, either RFC
// 3986 or one of its drafts.
type Mode uint8

const (
	RFC3986   Mode = iota // RFC 3986 section 5.2, strict
	Draft2003             // draft-fielding-uri-rfc2396bis-01; see Mode.Resolve
	Draft1997             // draft-fielding-url-syntax-05; see Mode.Resolve
)

// String returns the name of the mode.
func (m Mode) String() string {
	switch m {
	case RFC3986:
		return "RFC 3986"
	case Draft2003:
		return "draft of 2003"
	case Draft1997:
		return "draft of 1997"
	}
	return "unknown"
}

// Resolve resolves the reference ref against the URI base by the rules of m.
//
// Both drafts process dot segments only in relative paths. They do not change
// "/../g", and they keep a ".." above the root in the result. In Draft1997 a
// reference "?y" removes the last segment of the base path. Draft1997 also
// removes dot segments from the query of a relative path. A reference to the
// current document resolves to base with the fragment of ref.
//
// In every mode, a path never becomes an authority or a part of an authority. A
// resulting path "//x" without an authority is written as "/.//x". The
// reference "g" against "http://a" resolves to "http://a/g", although Draft1997
// specifies "http://ag".
func (m Mode) Resolve(base, ref URI) (URI, error) {
	if base.scheme == 0 {
		return URI{}, &Error{0, "base has no scheme"}
	}
	if ref.IsZero() {
		return URI{}, &Error{0, "zero reference"}
	}
	p := m.transform(base.Parts(), ref.Parts())
	if !p.HasAuthority && len(p.Path) > 1 && p.Path[:2] == "//" {
		p.Path = "/." + p.Path
	}
	return p.compose(true) // a zone can only come from base or ref
}

// transform resolves the reference r against base and returns the resulting
// components (RFC 3986 section 5.2.2).
func (m Mode) transform(base, r Parts) Parts {
	switch {
	case r.Scheme != "":
		r.Path = m.removeDots(r.Path)
		return r
	case r.HasAuthority:
		r.Path = m.removeDots(r.Path)
	case r.Path == "" && !r.HasQuery:
		base.Fragment, base.HasFragment = r.Fragment, r.HasFragment
		return base
	case r.Path == "" && m != Draft1997:
		r.Path = base.Path
	case r.Path != "" && r.Path[0] == '/':
		r.Path = m.removeDots(r.Path)
	default:
		r = m.merge(base, r)
	}
	r.Scheme = base.Scheme
	if !r.HasAuthority {
		r.HasAuthority, r.HasUserinfo, r.HasPort = base.HasAuthority, base.HasUserinfo, base.HasPort
		r.Userinfo, r.Host, r.Port = base.Userinfo, base.Host, base.Port
	}
	return r
}

// removeDots removes dot segments from a path if m is RFC3986. The drafts
// process dot segments only in paths that are merged with the base path.
func (m Mode) removeDots(path string) string {
	if m == RFC3986 {
		return string(appendWithoutDots(nil, path))
	}
	return path
}

// merge appends the relative path of r to the directory of the base path and
// removes dot segments. It follows RFC 3986 sections 5.2.3 and 5.2.4, or step 6
// of section 5.2 in the drafts.
func (m Mode) merge(base, r Parts) Parts {
	b := make([]byte, 0, len(base.Path)+len(r.Path)+len(r.Query)+2)
	if base.Path == "" && (base.HasAuthority || m == Draft2003) {
		b = append(b, '/')
	}
	b = append(b, base.Path[:lastSlash(base.Path)+1]...)
	b = append(b, r.Path...)
	if m == RFC3986 {
		r.Path = string(appendWithoutDots(nil, string(b)))
		return r
	}
	if m == Draft1997 && r.HasQuery {
		b = append(append(b, '?'), r.Query...)
	}
	b = draftWithoutDots(b)
	path, query, found := bytes.Cut(b, []byte("?"))
	if m == Draft1997 {
		r.Query, r.HasQuery = string(query), found
	}
	r.Path = string(path)
	return r
}

func lastSlash(s string) int {
	i := len(s) - 1
	for i >= 0 && s[i] != '/' {
		i--
	}
	return i
}
