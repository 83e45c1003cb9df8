package uri

import "bytes"

// Resolve returns what ref means in a document whose URI is u, strictly by RFC
// 3986 section 5.2: a ref with a scheme stands for itself, even with that of u.
// u must have a scheme; its fragment plays no part.
func (u URI) Resolve(ref URI) (URI, error) { return RFC3986.Resolve(u, ref) }

// A Mode is an edition of the rules by which references are resolved.
type Mode uint8

const (
	RFC3986   Mode = iota // RFC 3986 section 5.2, strict
	Draft2003             // draft-fielding-uri-rfc2396bis-01: see Mode.Resolve
	Draft1997             // draft-fielding-url-syntax-05: see Mode.Resolve
)

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

// Resolve returns what ref means against base by the rules of that edition.
//
// In both drafts dot segments are special in a relative path alone: "/../g" is
// kept, and ".." above the root stays in the result. In that of 1997 a reference
// "?y" drops the last segment of the base, and dot segments are also removed from
// the query of a relative path. Where they call a reference one to the current
// document, the result is base with the fragment of ref.
//
// One rule is kept in every mode: a path never turns into an authority or into a
// part of one. A result "//x" without authority is written "/.//x", and "g"
// against "http://a" is "http://a/g", where the draft of 1997 has "http://ag".
func (m Mode) Resolve(base, ref URI) (URI, error) {
	if base.scheme == 0 {
		return URI{}, &Error{0, "base has no scheme"}
	}
	if ref.IsZero() {
		return URI{}, &Error{0, "no reference"}
	}
	p := m.target(base.Parts(), ref.Parts())
	if !p.HasAuthority && len(p.Path) > 1 && p.Path[:2] == "//" {
		p.Path = "/." + p.Path
	}
	return p.join(true) // a zone can only be that of base or ref
}

// target transforms the reference r: RFC 3986 section 5.2.2.
func (m Mode) target(base, r Parts) Parts {
	switch {
	case r.Scheme != "":
		r.Path = m.absolute(r.Path)
		return r
	case r.HasAuthority:
		r.Path = m.absolute(r.Path)
	case r.Path == "" && !r.HasQuery:
		base.Fragment, base.HasFragment = r.Fragment, r.HasFragment
		return base
	case r.Path == "" && m != Draft1997:
		r.Path = base.Path
	case r.Path != "" && r.Path[0] == '/':
		r.Path = m.absolute(r.Path)
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

// absolute treats the path of a reference that needs no merging.
func (m Mode) absolute(path string) string {
	if m == RFC3986 {
		return string(appendWithoutDots(nil, path))
	}
	return path
}

// merge joins the relative path of r to that of base: RFC 3986 section 5.2.3 and
// 5.2.4, or step 6 of section 5.2 in the drafts.
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
