package dirlist

import (
	"strings"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A directory is where the entries of a listing lie: a URL whose path ends in
// a slash.
type directory struct{ uri.URI }

// newDirectory reads the URL of a listing, which may have said ";type=d", or
// no path at all. Its password is not for those who read listings.
func newDirectory(base uri.URI) (directory, error) {
	parts := base.Parts()
	if i := strings.LastIndexByte(parts.Path, ';'); i >= 0 && strings.EqualFold(parts.Path[i:], ";type=d") {
		parts.Path = parts.Path[:i]
	}
	if parts.HasQuery {
		parts.Path += "%3F" + parts.Query // RFC 1738 5: part of the name
	}
	if !strings.HasSuffix(parts.Path, "/") {
		parts.Path += "/"
	}
	parts.Userinfo, _, _ = base.User()
	parts.HasUserinfo = parts.Userinfo != ""
	parts.Query, parts.HasQuery = "", false
	parts.Fragment, parts.HasFragment = "", false
	u, err := uri.Build(parts)
	return directory{u}, err
}

// place makes a row an entry of the directory: with the text of its name and,
// unless it is no entry, its URL.
func (d directory) place(r row) (fetch.Entry, error) {
	name := r.link
	if name == "" {
		name = r.Name
	}
	if !utf8.ValidString(r.Name) {
		r.Name = latin1(r.Name)
		if r.Kind != fetch.Info {
			r.note("charset", "iso-8859-1")
		}
	}
	if r.Kind == fetch.Info || !isSegment(name) {
		r.Kind = fetch.Info
		return r.Entry, nil
	}
	segment := strings.ReplaceAll(uri.Escape(name, uri.Segment), ";", "%3B") // else ";type=a" would be none of the name
	if r.Kind == fetch.Menu {
		segment += "/"
	}
	var err error
	r.URL, err = d.WithPath(d.Path() + segment)
	return r.Entry, err
}

// isSegment reports whether a name leads into the directory and nowhere else.
func isSegment(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\r\n\x00")
}

// latin1 reads bytes as ISO 8859-1, in which any are a text.
func latin1(s string) string {
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}
