package textindex

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// A Query selects captures by their texts. Each zero field selects all captures.
type Query struct {
	// Words are the words that the title or the text must contain. A phrase is
	// in double quotes, and a word or phrase after "-" must not occur. Case and
	// diacritics are ignored. The words "scheme:NAME", "host:NAME", "kind:NAME"
	// and "year:YYYY" set the fields below that are empty.
	Words string

	Scheme string // scheme of the URL
	Host   string // host of the URL, or a domain that contains it
	Kind   Kind
	Year   string // year of the capture

	// Skip is the number of the best results that are left out, and Limit is the
	// maximum number of results. A Limit of 0 means 20.
	Skip, Limit int
}

// A Kind is a kind of text.
type Kind string

// Kinds of text.
const (
	Page    Kind = "page"    // an HTML page
	Article Kind = "article" // a mail or news message
	Listing Kind = "listing" // a menu or a directory
	Other   Kind = "text"    // another text
)

// Kinds lists all kinds.
func Kinds() []Kind { return []Kind{Page, Article, Listing, Other} }

// MaxLimit is the maximum number of results of a search.
const MaxLimit = 100

// Limits of a query.
const (
	maxPhrases  = 10
	maxPhrase   = 16 // words of a phrase
	maxSkip     = 1000
	defaultPage = 20
)

// A phrase is a sequence of words in their normal form.
type phrase []string

// quoted returns the phrase as a string of an FTS5 query.
func (p phrase) quoted() string { return `"` + strings.Join(p, " ") + `"` }

// withFilters returns q with the filters that are in its words.
func (q Query) withFilters() Query {
	for text := range strings.FieldsSeq(q.Words) {
		name, value, ok := strings.Cut(text, ":")
		kind := string(q.Kind)
		field := map[string]*string{"scheme": &q.Scheme, "host": &q.Host, "kind": &kind, "year": &q.Year}[name]
		if !ok || field == nil || value == "" || strings.HasPrefix(value, "//") {
			continue
		}
		if *field == "" {
			*field = value
		}
		q.Kind, q.Words = Kind(kind), strings.Replace(q.Words, text, "", 1)
	}
	return q
}

// parseWords returns the phrases that a text must have, and those that it must
// not have.
func parseWords(text string) (wanted, unwanted []phrase, err error) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		rest, exclude := strings.CutPrefix(text, "-")
		var part string
		if inside, ok := strings.CutPrefix(rest, `"`); ok {
			part, text, _ = strings.Cut(inside, `"`)
		} else {
			end := strings.IndexAny(rest, " \t\r\n\"")
			if end < 0 {
				end = len(rest)
			}
			part, text = rest[:end], rest[end:]
		}
		var p phrase
		for w := range words(part) {
			p = append(p, w.text)
		}
		switch {
		case len(p) == 0:
			continue
		case len(p) > maxPhrase || len(wanted)+len(unwanted) == maxPhrases:
			return nil, nil, fetch.Usage.Errorf("a search has at most %d words, or phrases of %d words", maxPhrases, maxPhrase)
		case exclude:
			unwanted = append(unwanted, p)
		default:
			wanted = append(wanted, p)
		}
	}
	if len(wanted) == 0 {
		return nil, nil, fetch.Usage.Errorf("a search needs a word")
	}
	return wanted, unwanted, nil
}

// expression returns the query as an FTS5 expression. The wanted phrases must be in
// the given columns. The expression contains only words in their normal form, in
// quotes, and our own operators.
func (q Query) expression(columns string, wanted, unwanted []phrase) string {
	expression := texts(columns, wanted, " AND ")
	if facets := q.facets(); len(facets) > 0 {
		expression = "(" + expression + ") AND facet : (" + list(facets, " AND ") + ")"
	}
	if len(unwanted) > 0 {
		expression = "(" + expression + ") NOT (" + texts("title body", unwanted, " OR ") + ")"
	}
	return expression
}

// texts returns the expression for phrases in columns.
func texts(columns string, phrases []phrase, operator string) string {
	return "{" + columns + "} : (" + list(phrases, operator) + ")"
}

func list(phrases []phrase, operator string) string {
	var all []string
	for _, p := range phrases {
		all = append(all, p.quoted())
	}
	return strings.Join(all, operator)
}

// facets returns the filters as words of the column facet.
func (q Query) facets() (all []phrase) {
	for name, value := range map[byte]string{'s': q.Scheme, 'h': q.Host, 'k': string(q.Kind), 'y': q.Year} {
		if value != "" {
			all = append(all, phrase{facet(name, value)})
		}
	}
	slices.SortFunc(all, slices.Compare)
	return all
}

// facet returns the word of the column facet for a property. It consists of
// letters and digits.
func facet(name byte, value string) string {
	return string(name) + hex.EncodeToString([]byte(strings.ToLower(value)))
}

// maxDomains limits the domains of a host that a filter finds.
const maxDomains = 8

// maxFacet is the maximum length of the value of a facet in bytes, as that of a name
// in DNS. No filter finds longer values. A search rejects an index with very long
// words.
const maxFacet = 255

// facetsOf returns the content of the column facet for a capture.
func facetsOf(scheme, host string, kind Kind, timestamp string) string {
	all := []string{facet('k', string(kind)), facet('y', timestamp[:min(4, len(timestamp))])}
	if len(scheme) <= maxFacet {
		all = append(all, facet('s', scheme))
	}
	host = strings.ToLower(host)
	for range maxDomains {
		if host == "" {
			break
		}
		if len(host) <= maxFacet {
			all = append(all, facet('h', host))
		}
		_, host, _ = strings.Cut(host, ".")
	}
	return strings.Join(all, " ")
}
