package gopher

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// query returns the URL that searches the index u for the words of q. The new
// words replace any search words in u. The Gopher+ string of u is kept. query
// ignores q.Max, because only the server determines the number of results.
func query(u uri.URI, q fetch.Search) (uri.URI, error) {
	l, err := locate(u)
	switch {
	case err != nil:
		return uri.URI{}, err
	case typeOf(l.item).kind != fetch.Index:
		return uri.URI{}, fetch.Unsupported.Errorf("item type %c is not a search index", l.item)
	case breaksLine(q.Words) || strings.Contains(q.Words, "\t"):
		return uri.URI{}, fetch.BadURL.Errorf("control character in the search words")
	}
	path := uri.AppendEscape([]byte{'/'}, string(l.item)+l.selector, uri.Path)
	path = uri.AppendEscape(append(path, "%09"...), q.Words, uri.Path)
	if l.plus.verb != 0 {
		path = uri.AppendEscape(append(path, "%09"...), l.plus.String(), uri.Path)
	}
	return u.WithoutQuery().WithPath(string(path))
}
