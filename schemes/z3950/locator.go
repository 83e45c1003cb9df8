package z3950

import (
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/z3950/apdu"
	"github.com/anyurl/fetch/schemes/internal/textform"
	"github.com/anyurl/fetch/uri"
)

// A locator holds the parts of a URL.
type locator struct {
	databases  []string
	terms      []apdu.Term // nil: the URL has no document id and no words
	record     int64       // position in the result set; 0: all records
	elementSet string
	syntaxes   []string // object identifiers; nil: the URL has none
}

// defaultDatabase is the database of a URL that names none.
const defaultDatabase = "Default"

const (
	maxDatabases = 16
	maxTerms     = 50
	maxText      = 4 << 10 // bytes of a database name, a document id or the words
)

// syntaxes maps the names of record syntaxes in URLs to object identifiers.
var syntaxes = map[string]string{
	"usmarc": apdu.USMARC, "marc21": apdu.USMARC, "unimarc": apdu.UNIMARC, "sutrs": apdu.SUTRS,
	"grs-1": apdu.GRS1, "grs1": apdu.GRS1, "html": apdu.HTML, "xml": apdu.XML,
}

func locate(u uri.URI) (l locator, err error) {
	path, found := strings.CutPrefix(u.Path(), "/")
	if !found && path != "" {
		return l, fetch.BadURL.Errorf("the path has no database")
	}
	asked, ok := u.Query()
	params := ""
	if ok {
		asked, params, _ = strings.Cut(asked, ";")
	} else {
		path, params, _ = strings.Cut(path, ";")
	}
	if l.databases, err = parseDatabases(path); err == nil {
		err = l.parseParameters(params)
	}
	if err == nil && ok {
		err = l.parseTerms(u.Scheme(), asked)
	}
	switch {
	case err != nil:
	case u.Scheme() != sessionScheme && l.terms == nil:
		err = fetch.BadURL.Errorf("the URL has no document id: add ?DOCID, or search with z39.50s")
	case u.Scheme() != sessionScheme && l.record != 0:
		err = fetch.BadURL.Errorf("the parameter n belongs to z39.50s")
	case l.record != 0 && l.terms == nil:
		err = fetch.BadURL.Errorf("the parameter n needs search words")
	}
	return l, err
}

// parseDatabases parses database names that are separated by "+".
func parseDatabases(path string) (all []string, err error) {
	path = strings.TrimSuffix(path, "/")
	if path == "" {
		return []string{defaultDatabase}, nil
	}
	for name := range strings.SplitSeq(path, "+") {
		if name, err = parseText(name, "database name"); err != nil {
			return nil, err
		}
		if name == "" || len(all) == maxDatabases {
			return nil, fetch.BadURL.Errorf("the URL needs 1 to %d database names", maxDatabases)
		}
		all = append(all, name)
	}
	return all, nil
}

// parseText decodes a part of a URL. It rejects control characters.
func parseText(s, what string) (string, error) {
	s, err := uri.Unescape(s)
	switch {
	case err != nil:
		return "", fetch.BadURL.With(err)
	case len(s) > maxText:
		return "", fetch.BadURL.Errorf("the %s has %d bytes", what, len(s))
	case textform.HasControl(s):
		return "", fetch.BadURL.Errorf("the %s contains a control character", what)
	}
	return s, nil
}

// parseParameters parses parameters such as "esn=B;rs=usmarc+xml;n=3".
func (l *locator) parseParameters(params string) (err error) {
	if params == "" {
		return nil
	}
	for part := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "esn":
			l.elementSet, err = parseText(value, "element set")
		case "rs":
			l.syntaxes, err = parseSyntaxes(value)
		case "n":
			l.record, err = strconv.ParseInt(value, 10, 32)
			if err != nil || l.record <= 0 {
				return fetch.BadURL.Errorf("the number of a record is 1 or more")
			}
		default:
			return fetch.BadURL.Errorf("unknown parameter: esn, rs and n are supported")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func parseSyntaxes(value string) (all []string, err error) {
	for name := range strings.SplitSeq(value, "+") {
		oid, ok := syntaxes[strings.ToLower(name)]
		if !ok || len(all) == len(syntaxes) {
			return nil, fetch.Unsupported.Errorf("the URL names an unsupported record syntax: usmarc, unimarc, xml, html, sutrs and grs-1 are supported")
		}
		all = append(all, oid)
	}
	return all, nil
}

// Attributes of the set Bib-1 that select a record by its document id (RFC 2056).
const (
	useDocumentID = 1032
	structureURx  = 104
)

// parseTerms parses the document id or the words of a search.
func (l *locator) parseTerms(scheme, asked string) error {
	if scheme == sessionScheme {
		asked = strings.ReplaceAll(asked, "+", " ")
	}
	text, err := parseText(asked, "query")
	if err != nil {
		return err
	}
	if scheme != sessionScheme {
		l.terms = []apdu.Term{{Text: text, Use: useDocumentID, Structure: structureURx}}
	} else if l.terms, err = splitTerms(text); err != nil {
		return err
	}
	if len(l.terms) == 0 || l.terms[0].Text == "" {
		return fetch.NeedQuery.Errorf("the URL has no words to search")
	}
	return nil
}

// uses maps the names of access points to Bib-1 use attributes.
var uses = map[string]int64{"title": 4, "isbn": 7, "issn": 8, "subject": 21, "author": 1003, "any": 1016}

// splitTerms splits search words into terms, at spaces outside of quotation
// marks.
func splitTerms(words string) (all []apdu.Term, err error) {
	for words = strings.TrimLeft(words, " "); words != ""; words = strings.TrimLeft(words, " ") {
		var t apdu.Term
		if name, rest, ok := strings.Cut(words, ":"); ok && uses[name] != 0 {
			t.Use, words = uses[name], rest
		}
		if rest, ok := strings.CutPrefix(words, `"`); ok {
			t.Text, words, _ = strings.Cut(rest, `"`)
		} else {
			t.Text, words, _ = strings.Cut(words, " ")
		}
		if t.Text == "" {
			continue
		}
		if len(all) == maxTerms {
			return nil, fetch.BadURL.Errorf("the search has more than %d words", maxTerms)
		}
		all = append(all, t)
	}
	return all, nil
}

// query returns the URL of a search in a database.
func query(u uri.URI, q fetch.Search) (uri.URI, error) {
	l, err := locate(u)
	switch {
	case err != nil:
		return uri.URI{}, err
	case l.record != 0:
		return uri.URI{}, fetch.Unsupported.Errorf("a record cannot be searched")
	}
	path, params, _ := strings.Cut(u.Path(), ";")
	if asked, ok := u.Query(); ok {
		_, params, _ = strings.Cut(asked, ";")
	}
	text := uri.Escape(q.Words, uri.Unreserved)
	if params != "" {
		text += ";" + params
	}
	u, err = u.WithoutFragment().WithPath(path)
	if err == nil {
		u, err = u.WithQuery(text)
	}
	if err == nil {
		_, err = locate(u)
	}
	return u, err
}
