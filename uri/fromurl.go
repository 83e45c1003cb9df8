package uri

import (
	"net/url"
	"strings"
)

// FromURL returns the URI that u.String() writes, with every component as u has
// it and no escape decoded. It returns an [*Error] for a URL that RFC 3986 does
// not allow, such as one with a space in RawQuery. It does so too if a component
// would be read as another one: a Path "//host" without a Host, a "#" in RawQuery,
// or an Opaque that begins with "//". Zone identifiers are errors, as in
// [ParseReference].
func FromURL(u *url.URL) (URI, error) {
	if u == nil {
		return URI{}, &Error{0, "no URL"}
	}
	text := u.String()
	r, err := ParseReference(text)
	if err != nil {
		return URI{}, err
	}
	again, err := url.Parse(text)
	if err != nil {
		return URI{}, &Error{0, "not readable by net/url"}
	}
	for _, c := range [...]struct{ name, have, want string }{
		{"scheme", again.Scheme, strings.ToLower(u.Scheme)},
		{"opaque part", again.Opaque, u.Opaque},
		{"userinfo", again.User.String(), u.User.String()},
		{"host", again.Host, u.Host},
		{"path", again.Path, u.Path},
		{"query", again.RawQuery, u.RawQuery},
		{"fragment", again.Fragment, u.Fragment},
	} {
		if c.have != c.want {
			return URI{}, &Error{0, c.name + " does not fit there"}
		}
	}
	return r, nil
}
