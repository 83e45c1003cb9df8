package prospero

import (
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// archie is the part of a server's names that searches an index of anonymous
// FTP sites.
const archie = "ARCHIE"

// isArchie reports whether l names something that archie makes up: there is no
// object behind it.
func (l locator) isArchie() bool { return l.name == archie || strings.HasPrefix(l.name, archie+"/") }

const (
	usualHits = 95 // as the archie clients asked for
	mostHits  = 99999
)

// query writes the URL that asks archie for a name, in the form of three
// arguments that all its versions take: hits at the most, how many to leave
// out, and the kind of match.
func (o Options) query(u uri.URI, q fetch.Search) (uri.URI, error) {
	l, err := locate(u)
	switch {
	case err != nil:
		return uri.URI{}, err
	case l.name != "" && !l.isArchie():
		return uri.URI{}, fetch.Unsupported.Errorf("%s is no index: of Prospero's names archie's alone can be searched", u)
	case len(q.Like) > 0:
		return uri.URI{}, fetch.Unsupported.Errorf("archie has no relevance feedback")
	case q.Words == "":
		return uri.URI{}, fetch.NeedQuery.Errorf("index asked without words")
	case strings.ContainsAny(q.Words, "\r\n\x00"):
		return uri.URI{}, fetch.BadURL.Errorf("line break or NUL in the words of a search")
	}
	match := o.Match
	switch match {
	case 0:
		match = 'S'
	case '=', 'S', 'C', 'R', 's', 'c', 'r':
	default:
		return uri.URI{}, fetch.Usage.Errorf("archie has no match of kind %q", match)
	}
	hits := q.Max
	if hits <= 0 {
		hits = usualHits
	}
	name := archie + "/MATCH(" + strconv.Itoa(min(hits, mostHits)) + ",0," + string(rune(match)) + ")/" + q.Words
	return u.WithoutQuery().WithoutFragment().WithPath(locator{name: name}.path())
}
