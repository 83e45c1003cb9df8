package gopher

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// query writes the URL that asks an index for words. Words that u has already
// are replaced; its Gopher+ string stays. How many entries come is the
// server's choice.
func query(u uri.URI, q fetch.Search) (uri.URI, error) {
	l, err := locate(u)
	switch {
	case err != nil:
		return uri.URI{}, err
	case typeOf(l.item).kind != fetch.Index:
		return uri.URI{}, fetch.Unsupported.Errorf("item of type %c is no index", l.item)
	case len(q.Like) > 0:
		return uri.URI{}, fetch.Unsupported.Errorf("gopher has no relevance feedback")
	case q.Words == "":
		return uri.URI{}, fetch.NeedQuery.Errorf("index asked without words")
	case unsafe(q.Words) || strings.Contains(q.Words, "\t"):
		return uri.URI{}, fetch.BadURL.Errorf("control character in the words of a search")
	}
	path := uri.AppendEscape([]byte{'/'}, string(l.item)+l.selector, uri.Path)
	path = uri.AppendEscape(append(path, "%09"...), q.Words, uri.Path)
	if l.plus.verb != 0 {
		path = uri.AppendEscape(append(path, "%09"...), l.plus.String(), uri.Path)
	}
	return u.WithoutQuery().WithPath(string(path))
}
