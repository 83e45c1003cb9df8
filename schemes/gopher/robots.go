package gopher

import (
	"strings"

	"github.com/anyurl/fetch/uri"
)

// robotsPath returns the path that is matched against robots.txt, which is the
// selector of u with a leading "/". It returns false for a malformed URL and
// for a selector that contains a URL.
func robotsPath(u uri.URI) (string, bool) {
	item, err := uri.Unescape(strings.TrimPrefix(u.Path(), "/"))
	if err != nil || item == "" {
		return "/", err == nil
	}
	// In the URL of an index, "?" separates the selector from the search words
	// (RFC 1630). In any other URL, "?" is part of the selector.
	query, ok := u.Query()
	if index := strings.ContainsRune("27", rune(item[0])); ok && (!index || strings.Contains(query, "%09")) {
		more, err := uri.Unescape("?" + query)
		if err != nil {
			return "", false
		}
		item += more
	}
	selector, _, _ := strings.Cut(item[1:], "\t")
	selector = strings.TrimPrefix(selector, "/")
	return "/" + uri.Escape(selector, uri.QueryChars), !strings.HasPrefix(selector, "URL:")
}
