package uribatch

import (
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/uri/iri"
)

// evaluate returns the result of a request: a bool, a string, a list of strings
// or [Components]. It returns an error of the uri package if an input is not a
// URI.
func (q *request) evaluate() (any, error) {
	switch q.Kind {
	case "valid":
		return q.valid()
	case "parse":
		return q.parse()
	case "resolve":
		base, ref, err := parsePair(q.Base, q.Ref)
		if err != nil {
			return nil, err
		}
		return unredacted(base.Resolve(ref))
	case "normalize":
		level, ok := parseLevel(q.Level)
		if !ok {
			return nil, errUnsupported
		}
		u, err := parseReference(q.Input)
		return unredacted(u.Normalize(level), err)
	case "equivalent":
		level, ok := parseLevel(q.Level)
		if !ok {
			return nil, errUnsupported
		}
		a, b, err := parsePair(q.A, q.B)
		return uri.Equivalent(a, b, level), err
	case "relativize":
		base, target, err := parsePair(q.Base, q.Target)
		return unredacted(uri.Relativize(base, target), err)
	case "extract":
		return q.extract()
	}
	return nil, errUnsupported
}

func (q *request) valid() (any, error) {
	p, ok := uri.ParseProduction(q.Production)
	switch {
	case !ok:
		return nil, errUnsupported
	case q.Input == nil:
		return nil, errMissingInput
	}
	return uri.Valid(*q.Input, p), nil
}

func (q *request) extract() (any, error) {
	if q.Text == nil {
		return nil, errMissingInput
	}
	list := []string{}
	for f := range uri.Extract(*q.Text) {
		u, err := iri.ToASCII(f.URI)
		if err != nil {
			u = f.URI // the host is not a valid DNS name
		}
		list = append(list, u.Unredacted())
	}
	return list, nil
}

// Components are the components of a URI in their original spelling. A nil
// field means that the URI has no such component.
type Components struct {
	Scheme    *string `json:"scheme"`
	Authority *string `json:"authority"`
	Userinfo  *string `json:"userinfo"`
	Host      *string `json:"host"`
	Port      *string `json:"port"`
	Path      string  `json:"path"`
	Query     *string `json:"query"`
	Fragment  *string `json:"fragment"`
}

func (q *request) parse() (any, error) {
	u, err := parseReference(q.Input)
	if err != nil {
		return nil, err
	}
	return ComponentsOf(u), nil
}

// ComponentsOf returns the components of u, including the password.
func ComponentsOf(u uri.URI) Components {
	p := u.Parts()
	return Components{
		Scheme:    optional(p.Scheme, p.Scheme != ""),
		Authority: optional(u.Authority()),
		Userinfo:  optional(u.Userinfo()),
		Host:      optional(p.Host, p.HasAuthority),
		Port:      optional(u.Port()),
		Path:      p.Path,
		Query:     optional(u.Query()),
		Fragment:  optional(u.Fragment()),
	}
}

func optional(s string, ok bool) *string {
	if !ok {
		return nil
	}
	return &s
}

// parseReference parses an input of a request as a URI reference. It accepts
// IPv6 zone identifiers, which are not valid in RFC 3986.
func parseReference(s *string) (uri.URI, error) {
	if s == nil {
		return uri.URI{}, errMissingInput
	}
	return uri.ParseZone(*s)
}

func parsePair(a, b *string) (x, y uri.URI, err error) {
	if x, err = parseReference(a); err == nil {
		y, err = parseReference(b)
	}
	return x, y, err
}

func unredacted(u uri.URI, err error) (any, error) { return u.Unredacted(), err }

// parseLevel returns the normalization level with the given name. The default
// level is "syntax".
func parseLevel(name string) (uri.Level, bool) {
	for _, l := range []uri.Level{uri.Syntax, uri.ByScheme} {
		if l.String() == name {
			return l, true
		}
	}
	return uri.Syntax, name == ""
}
