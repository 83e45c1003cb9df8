package ldap

import (
	"slices"
	"strings"

	"github.com/go-ldap/ldap/v3"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A locator holds the parts of a URL.
type locator struct {
	dn         string
	attributes []string // nil: all user attributes
	scope      scope
	filter     []byte // encoded in BER
	filterText string // "" for the default
	bindName   string // value of the extension bindname, or ""
}

// A scope selects entries relative to the entry of the URL.
type scope int64

const (
	base scope = iota
	one
	sub
)

// scopes are the names of scopes in URLs.
var scopes = []string{"base", "one", "sub"}

const (
	maxText       = 16 << 10 // bytes of a name or a filter
	maxDepth      = 50       // levels of a filter; the encoding of each level is a copy of all inner levels
	maxAttributes = 200
	maxAttribute  = 500 // bytes of the name of an attribute
	defaultFilter = "(objectClass=*)"
)

func locate(u uri.URI) (l locator, err error) {
	if u.Host() == "" {
		return l, fetch.BadURL.Errorf("the URL has no host: %s://HOST/DN", u.Scheme())
	}
	path := strings.TrimPrefix(u.Path(), "/")
	if l.dn, err = parseName(u.Scheme(), path); err != nil {
		return l, err
	}
	asked, _ := u.Query()
	parts := strings.Split(asked, "?")
	if len(parts) > 4 {
		return l, fetch.BadURL.Errorf("the URL has more than five parts separated by \"?\"")
	}
	parts = append(parts, make([]string, 4-len(parts))...)
	if l.attributes, err = parseAttributes(parts[0]); err != nil {
		return l, err
	}
	if parts[1] != "" {
		n := slices.Index(scopes, strings.ToLower(parts[1]))
		if n < 0 {
			return l, fetch.BadURL.Errorf("the scope of the URL is not base, one or sub")
		}
		l.scope = scope(n)
	}
	if err = l.parseFilter(parts[2]); err == nil {
		err = l.parseExtensions(parts[3])
	}
	return l, err
}

// parseText decodes a part of a URL.
func parseText(s string) (string, error) {
	s, err := uri.Unescape(s)
	switch {
	case err != nil:
		return "", fetch.BadURL.With(err)
	case len(s) > maxText:
		return "", fetch.BadURL.Errorf("a part of the URL has %d bytes", len(s))
	case strings.ContainsRune(s, 0):
		return "", fetch.BadURL.Errorf("a part of the URL contains a NUL byte")
	}
	return s, nil
}

// parseName parses the DN of a URL. The DN of an x500 URL may consist of path
// segments, from the root on.
func parseName(scheme, path string) (dn string, err error) {
	if scheme == x500Scheme && strings.Contains(path, "/") {
		segments := strings.Split(strings.TrimSuffix(path, "/"), "/")
		slices.Reverse(segments)
		path = strings.Join(segments, ",")
	}
	if dn, err = parseText(path); err != nil {
		return "", err
	}
	if strings.HasPrefix(dn, "<") { // <GUID=...> of Active Directory
		return dn, nil
	}
	if _, err := ldap.ParseDN(dn); err != nil {
		return "", fetch.BadURL.Errorf("the path is not a distinguished name such as dc=example,dc=org")
	}
	return dn, nil
}

func parseAttributes(list string) (all []string, err error) {
	if list == "" {
		return nil, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		if name, err = parseText(name); err != nil {
			return nil, err
		}
		if !isAttribute(name) || len(all) == maxAttributes {
			return nil, fetch.BadURL.Errorf("the URL has an invalid list of attributes")
		}
		all = append(all, name)
	}
	return all, nil
}

// isAttribute reports whether s is an attribute description (RFC 4512 2.5), or
// "*" or "+" for all user or operational attributes.
func isAttribute(s string) bool {
	return s == "*" || s == "+" || s != "" && len(s) <= maxAttribute && !strings.ContainsFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(".;-_", r))
	})
}

func (l *locator) parseFilter(s string) (err error) {
	if l.filterText, err = parseText(s); err != nil {
		return err
	}
	text := l.filterText
	if text == "" {
		text = defaultFilter
	}
	if depthOf(text) > maxDepth {
		return fetch.BadURL.Errorf("the filter of the URL has more than %d levels", maxDepth)
	}
	packet, err := ldap.CompileFilter(text)
	if err != nil {
		return fetch.BadURL.Errorf("the filter of the URL is invalid: it has a form such as (cn=a*)")
	}
	l.filter = packet.Bytes()
	return nil
}

// depthOf returns the number of levels of a filter. Parentheses in values are
// escaped (RFC 4515 section 3).
func depthOf(filter string) (deepest int) {
	depth := 0
	for _, c := range []byte(filter) {
		switch c {
		case '(':
			depth++
			deepest = max(deepest, depth)
		case ')':
			depth = max(depth-1, 0)
		}
	}
	return deepest
}

// parseExtensions parses the extensions of a URL. The only known one is
// bindname. A critical one is marked by "!" and must not be ignored.
func (l *locator) parseExtensions(list string) error {
	for e := range strings.SplitSeq(list, ",") {
		name, critical := strings.CutPrefix(e, "!")
		name, value, _ := strings.Cut(name, "=")
		switch {
		case strings.EqualFold(name, "bindname"):
			text, err := parseText(value)
			if err != nil {
				return err
			}
			l.bindName = text
		case critical:
			return fetch.Unsupported.Errorf("the URL requires an extension that is not supported")
		}
	}
	return nil
}

// isListing reports whether the object is a listing.
func (l locator) isListing() bool { return l.scope != base || l.dn == "" }

// escapeDN encodes a DN for the path of a URL.
func escapeDN(dn string) string { return uri.Escape(dn, uri.Segment) }

// names lists the attributes in which a search looks for the search words.
var names = []string{"cn", "sn", "givenName", "displayName", "uid", "mail", "ou", "o"}

// query returns the URL of a search for the words of q below the entry at u.
func query(u uri.URI, q fetch.Search) (uri.URI, error) {
	l, err := locate(u)
	if err != nil {
		return uri.URI{}, err
	}
	filter := q.Words
	if !strings.HasPrefix(filter, "(") {
		var all strings.Builder
		for word := range strings.FieldsSeq(q.Words) {
			all.WriteString("(|")
			for _, name := range names {
				all.WriteString("(" + name + "=*" + ldap.EscapeFilter(word) + "*)")
			}
			all.WriteString(")")
		}
		filter = "(&" + all.String() + ")"
	}
	asked, _ := u.Query()
	attributes, _, _ := strings.Cut(asked, "?")
	u, err = u.WithoutFragment().WithQuery(attributes + "?" + scopes[max(l.scope, sub)] + "?" + uri.Escape(filter, uri.Segment))
	if err == nil {
		_, err = locate(u)
	}
	return u, err
}
