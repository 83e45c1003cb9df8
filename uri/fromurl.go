package uri

import (
	"net/url"
	"strings"
)

// FromURL converts a URL of package net/url to a URI. It parses u.String() and
// decodes no component. FromURL returns an [*Error] if this string is not a
// valid URI, for example because RawQuery contains a space. It also returns an
// error if a component would be parsed as another component. For example, a
// Path "//host" without a Host would be parsed as a host. Zone identifiers are
// rejected.
func FromURL(u *url.URL) (URI, error) {
	if u == nil {
		return URI{}, &Error{0, "nil URL"}
	}
	text := u.String()
	r, err := ParseReference(text)
	if err != nil {
		return URI{}, err
	}
	again, err := url.Parse(text)
	if err != nil {
		return URI{}, &Error{0, "net/url cannot parse its text"}
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
			return URI{}, &Error{0, c.name + " would be parsed as another component"}
		}
	}
	return r, nil
}
