package warc

import (
	"slices"
	"strings"

	"github.com/anyurl/fetch/internal/base/baseuri"
	"github.com/anyurl/fetch/uri"
)

// parseURL parses a URL that is stored in an archive. Many programs store
// characters that RFC 3986 does not allow in a URI, such as brackets in a query.
// parseURL percent-encodes them.
func parseURL(text string) (uri.URI, error) {
	if u, err := uri.ParseZone(text); err == nil {
		return u, nil
	}
	return baseuri.ParseAbsolute(text)
}

// otherScheme replaces the scheme http of a URL by https, and vice versa. The
// result ok is false for other schemes.
func otherScheme(url string) (other string, ok bool) {
	scheme, rest, _ := strings.Cut(url, ":")
	switch strings.ToLower(scheme) {
	case "http":
		return "https:" + rest, true
	case "https":
		return "http:" + rest, true
	}
	return "", false
}

// literals lists the characters that other programs do not percent-encode in
// the path and in the query.
var literals = [...]struct{ path, query string }{
	{"[]", "[]"},               // GNU wget
	{"[]|^%", "[]{}|^`\\%"},    // browsers (WHATWG URL standard)
	{allLiterals, allLiterals}, // programs that store the text of a link
}

// allLiterals contains all visible ASCII characters that a URI cannot contain.
const allLiterals = "[]{}|^`\\\"<>%"

// keysOf returns the keys under which an index can contain u. The parameter
// target is the result of targetURI, and u is normalized.
func keysOf(target string, u uri.URI) []string {
	text := u.Unredacted()
	keys := []string{Key(target)}
	add := func(text string) {
		if key := Key(text); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	add(text)
	if !strings.Contains(text, "%") {
		return keys
	}
	for _, set := range literals {
		path, query, _ := strings.Cut(text, "?")
		path, query = decodeLiterals(path, set.path), decodeLiterals(query, set.query)
		if query != "" {
			path += "?" + query
		}
		add(path)
	}
	return keys
}

// decodeLiterals decodes the percent-encoded characters of s that occur in set.
// If set is allLiterals, decodeLiterals also decodes non-ASCII bytes. It decodes
// "%25" only if the result does not start another percent-encoding.
func decodeLiterals(s, set string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if isEncoded(s[i:]) {
			decoded := unescape(s[i : i+3])[0]
			allowed := strings.IndexByte(set, decoded) >= 0 || decoded >= 0x80 && set == allLiterals
			if allowed && !(decoded == '%' && isEncoded("%"+s[i+3:min(i+5, len(s))])) {
				c = decoded
				i += 2
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}

// isEncoded reports whether s starts with a percent-encoded byte.
func isEncoded(s string) bool {
	return len(s) > 2 && s[0] == '%' && len(unescape(s[:3])) == 1
}
