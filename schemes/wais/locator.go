package wais

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A locator holds the parts of a wais URL: the database, and a search or a
// document if the URL has one.
type locator struct {
	database string
	segment  string // database, percent-encoded as in the URL
	search   *search
	document *document
	lines    *lines // lines of the document; nil: all lines
}

// info is the name of the database that lists the other databases of a server.
// It is used for URLs without a database.
const info = "INFO"

func locate(u uri.URI) (l locator, err error) {
	path, found := strings.CutPrefix(u.Path(), "/")
	if !found && path != "" {
		return l, fetch.BadURL.Errorf("the path has no database")
	}
	segment, rest, _ := strings.Cut(path, "/")
	if l.segment = segment; segment == "" {
		l.segment = info
	}
	if l.database, err = parseDatabase(l.segment); err != nil {
		return l, err
	}
	words, asked := u.Query()
	switch {
	case asked && rest != "":
		return l, fetch.BadURL.Errorf("a document cannot be searched: only a database is an index")
	case asked:
		l.search, err = parseSearch(words)
		return l, err
	case rest == "":
		return l, nil
	}
	if l.document, err = parseDocument(rest); err != nil {
		return l, err
	}
	if fragment, ok := u.Fragment(); ok {
		l.lines, err = parseLines(strings.CutPrefix(fragment, "line="))
	}
	return l, err
}

// maxDatabase is the maximum length of a database name in bytes. The name must
// fit into a PDU header with a two-byte length.
const maxDatabase = 1 << 10

// parseDatabase decodes a database name. It rejects a name that freeWAIS would
// interpret as several databases (byte 0x1F) or as a database on another server
// ("@").
func parseDatabase(segment string) (string, error) {
	name, err := uri.Unescape(segment)
	if err != nil {
		return "", fetch.BadURL.With(err)
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '@' }) {
		return "", fetch.BadURL.Errorf("the database name contains a control character or @")
	}
	if len(name) > maxDatabase {
		return "", fetch.BadURL.Errorf("the database name has %d bytes", len(name))
	}
	return name, nil
}

// parseDocument parses the part TYPE/ID of a URL path.
func parseDocument(path string) (*document, error) {
	kind, wpath, ok := strings.Cut(path, "/")
	if !ok || wpath == "" {
		return nil, fetch.BadURL.Errorf("the document has no id")
	}
	kind, err := uri.Unescape(kind)
	if err != nil {
		return nil, fetch.BadURL.With(err)
	}
	if !isType(kind) {
		return nil, fetch.BadURL.Errorf("the type of the document is invalid")
	}
	d := &document{kind: kind}
	d.id, d.length, err = parseWPath(wpath)
	return d, err
}

// isType reports whether s is a valid WAIS document type, such as TEXT.
func isType(s string) bool {
	return s != "" && len(s) <= 64 && s != "." && s != ".." &&
		!strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

// appendDocument appends the URL path of a document, after the database.
func appendDocument(dst []byte, d document) []byte {
	dst = append(uri.AppendEscape(dst, d.kind, uri.Unreserved), '/')
	return appendWPath(dst, d)
}
