package dirlist

import (
	"strings"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/internal/textform"
	"github.com/anyurl/fetch/uri"
)

// A directory is the URL of a directory, with a path that ends in a slash.
type directory struct{ uri.URI }

// newDirectory converts the URL of a listing to the URL of the directory. It
// removes ";type=d" from the path, adds a final slash, and removes the
// password, so that the URLs of entries do not contain the password.
func newDirectory(base uri.URI) (directory, error) {
	parts := base.Parts()
	if i := strings.LastIndexByte(parts.Path, ';'); i >= 0 && strings.EqualFold(parts.Path[i:], ";type=d") {
		parts.Path = parts.Path[:i]
	}
	if parts.HasQuery {
		parts.Path += "%3F" + parts.Query // "?" is part of the name (RFC 1738 section 5)
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

// entry converts a row to an Entry. It converts the name to UTF-8 and, if the
// row describes a file, adds the URL.
func (d directory) entry(r row) (fetch.Entry, error) {
	name := r.link
	if name == "" {
		name = r.Name
	}
	if !utf8.ValidString(r.Name) {
		r.Name = textform.UTF8(r.Name)
		if r.Kind != fetch.Info {
			r.addExtra("charset", "iso-8859-1")
		}
	}
	if r.Kind == fetch.Info || !isSegment(name) {
		r.Kind = fetch.Info
		return r.Entry, nil
	}
	segment := strings.ReplaceAll(uri.Escape(name, uri.Segment), ";", "%3B") // ";type=a" is part of the name here
	if r.Kind == fetch.Menu {
		segment += "/"
	}
	var err error
	r.URL, err = d.WithPath(d.Path() + segment)
	return r.Entry, err
}

// isSegment reports whether name is safe as the last segment of a URL, so that
// the URL names a child of the directory.
func isSegment(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\r\n\x00")
}
