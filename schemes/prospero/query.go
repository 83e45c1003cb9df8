package prospero

import (
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// archie is the directory name under which a Prospero server searches the
// archie index of anonymous ftp sites.
const archie = "ARCHIE"

// isArchie reports whether a URL is an archie search or a directory of archie.
func (l locator) isArchie() bool { return l.name == archie || strings.HasPrefix(l.name, archie+"/") }

const (
	usualHits = 95 // the default of archie clients
	mostHits  = 99999
)

// query returns the URL of an archie search. It uses three arguments that all
// versions of archie accept: the maximum number of results, the number of
// results to skip, and the kind of match.
func (o Options) query(u uri.URI, q fetch.Search) (uri.URI, error) {
	l, err := locate(u)
	switch {
	case err != nil:
		return uri.URI{}, err
	case l.name != "" && !l.isArchie():
		return uri.URI{}, fetch.Unsupported.Errorf("%s cannot be searched: only archie names are indexes", u)
	case strings.ContainsAny(q.Words, "\r\n\x00"):
		return uri.URI{}, fetch.BadURL.Errorf("the search words contain a line break or NUL")
	}
	match := o.Match
	switch match {
	case 0:
		match = 'S'
	case '=', 'S', 'C', 'R', 's', 'c', 'r':
	default:
		return uri.URI{}, fetch.Usage.Errorf("archie does not support the match %q", match)
	}
	hits := q.Max
	if hits <= 0 {
		hits = usualHits
	}
	name := archie + "/MATCH(" + strconv.Itoa(min(hits, mostHits)) + ",0," + string(rune(match)) + ")/" + q.Words
	return u.WithoutQuery().WithoutFragment().WithPath(locator{name: name}.path())
}
