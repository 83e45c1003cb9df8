package uribatch

import (
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/uri/iri"
)

// evaluate returns the result: a bool, a string or components. An error that is
// not one of this package means that an input is no URI.
func (q *request) evaluate() (any, error) {
	switch q.Kind {
	case "valid":
		return q.valid()
	case "parse":
		return q.parse()
	case "resolve":
		base, ref, err := pair(q.Base, q.Ref)
		if err != nil {
			return nil, err
		}
		return text(base.Resolve(ref))
	case "normalize":
		level, ok := level(q.Level)
		if !ok {
			return nil, errUnsupported
		}
		u, err := reference(q.Input)
		return text(u.Normalize(level), err)
	case "equivalent":
		level, ok := level(q.Level)
		if !ok {
			return nil, errUnsupported
		}
		a, b, err := pair(q.A, q.B)
		return uri.Equivalent(a, b, level), err
	case "relativize":
		base, target, err := pair(q.Base, q.Target)
		return text(uri.Relativize(base, target), err)
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
		return nil, errInput
	}
	return uri.Valid(*q.Input, p), nil
}

func (q *request) extract() (any, error) {
	if q.Text == nil {
		return nil, errInput
	}
	list := []string{}
	for f := range uri.Extract(*q.Text) {
		u, err := iri.ToASCII(f.URI)
		if err != nil {
			u = f.URI // no name for DNS, but a URI
		}
		list = append(list, u.Unredacted())
	}
	return list, nil
}

// Components are those of a URI as they were written; nil is undefined.
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
	u, err := reference(q.Input)
	if err != nil {
		return nil, err
	}
	return ComponentsOf(u), nil
}

// ComponentsOf takes u apart.
func ComponentsOf(u uri.URI) Components {
	p := u.Parts()
	return Components{
		Scheme:    defined(p.Scheme, p.Scheme != ""),
		Authority: defined(u.Authority()),
		Userinfo:  defined(u.Userinfo()),
		Host:      defined(p.Host, p.HasAuthority),
		Port:      defined(u.Port()),
		Path:      p.Path,
		Query:     defined(u.Query()),
		Fragment:  defined(u.Fragment()),
	}
}

func defined(s string, ok bool) *string {
	if !ok {
		return nil
	}
	return &s
}

// reference parses an input, zone identifiers included: this is a tool in the
// hands of a person, and "valid" is the strict question.
func reference(s *string) (uri.URI, error) {
	if s == nil {
		return uri.URI{}, errInput
	}
	return uri.ParseZone(*s)
}

func pair(a, b *string) (x, y uri.URI, err error) {
	if x, err = reference(a); err == nil {
		y, err = reference(b)
	}
	return x, y, err
}

func text(u uri.URI, err error) (any, error) { return u.Unredacted(), err }

// level returns the level of that name; none is the first.
func level(name string) (uri.Level, bool) {
	for _, l := range []uri.Level{uri.Syntax, uri.ByScheme} {
		if l.String() == name {
			return l, true
		}
	}
	return uri.Syntax, name == ""
}
