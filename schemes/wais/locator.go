package wais

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A locator is what a URL says. It has a search, a document or, an index,
// neither.
type locator struct {
	database string
	segment  string // database as the URL has it
	search   *search
	document *document
	lines    *lines // of the document; nil: all
}

// info is the database in which servers list their databases. It is asked
// where a request names none.
const info = "INFO"

func locate(u uri.URI) (l locator, err error) {
	path, found := strings.CutPrefix(u.Path(), "/")
	if !found && path != "" {
		return l, fetch.BadURL.Errorf("path without a database")
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
		return l, fetch.BadURL.Errorf("words behind a document: only a database is an index")
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

// maxDatabase bounds the name of a database in bytes: the header of a PDU, which
// it stands in, tells its own length in two.
const maxDatabase = 1 << 10

// parseDatabase refuses what would not name one database of this server:
// freeWAIS asks another server for a name with "@" in it, and 1F parts names.
func parseDatabase(segment string) (string, error) {
	name, err := uri.Unescape(segment)
	if err != nil {
		return "", fetch.BadURL.With(err)
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '@' }) {
		return "", fetch.BadURL.Errorf("database whose name has a control character or @ in it")
	}
	if len(name) > maxDatabase {
		return "", fetch.BadURL.Errorf("database whose name has %d bytes", len(name))
	}
	return name, nil
}

// parseDocument reads TYPE/ID.
func parseDocument(path string) (*document, error) {
	kind, wpath, ok := strings.Cut(path, "/")
	if !ok || wpath == "" {
		return nil, fetch.BadURL.Errorf("document without an id")
	}
	kind, err := uri.Unescape(kind)
	if err != nil {
		return nil, fetch.BadURL.With(err)
	}
	if !isType(kind) {
		return nil, fetch.BadURL.Errorf("document whose type is none")
	}
	d := &document{kind: kind}
	d.id, d.length, err = parseWPath(wpath)
	return d, err
}

// isType reports whether s may stand for a type, in a request and in a path.
func isType(s string) bool {
	return s != "" && len(s) <= 64 && s != "." && s != ".." &&
		!strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

// appendDocument writes the rest of a URL behind that of its database.
func appendDocument(dst []byte, d document) []byte {
	dst = append(uri.AppendEscape(dst, d.kind, uri.Unreserved), '/')
	return appendWPath(dst, d)
}
