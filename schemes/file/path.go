package file

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A place is what a URL names.
type place struct {
	names []string // decoded, from "/", without dot segments
	dir   bool     // the URL ends in a slash: only a directory will do
}

// locate reads the path of a file URL. Dot segments are removed before
// anything is opened, encoded or not: spellings that are equivalent
// (RFC 3986 6.2.2) name the same file, and none leads above "/".
func locate(u uri.URI) (place, error) {
	if err := refuse(u); err != nil {
		return place{}, err
	}
	var names []string
	last := ""
	for segment := range strings.SplitSeq(u.Path()[1:], "/") {
		name, err := uri.Unescape(segment)
		if err != nil {
			return place{}, fetch.BadURL.With(err)
		}
		if strings.ContainsAny(name, "/\x00") {
			return place{}, fetch.BadURL.Errorf("encoded slash or NUL in a file name")
		}
		switch name {
		case "", ".":
		case "..":
			names = names[:max(len(names)-1, 0)]
		default:
			names = append(names, name)
		}
		last = name
	}
	return place{names, last == "" || last == "." || last == ".."}, nil
}

// refuse tells what no file URL has. The host is never looked up.
func refuse(u uri.URI) error {
	_, user := u.Userinfo()
	_, port := u.Port()
	_, query := u.Query()
	switch host := u.Host(); {
	case user:
		return fetch.BadURL.Errorf("a file URL has no user")
	case port:
		return fetch.BadURL.Errorf("a file URL has no port")
	case host != "" && !strings.EqualFold(host, "localhost"):
		return refused("a file URL reaches this machine alone", "host "+host)
	case !strings.HasPrefix(u.Path(), "/"):
		return fetch.BadURL.Errorf("no absolute path: a file URL begins with file:/")
	case query:
		return fetch.BadURL.Errorf(`a file URL has no query: "?" in a name is written %%3F`)
	}
	return nil
}

// String is the path of p, without a slash at its end.
func (p place) String() string { return "/" + strings.Join(p.names, "/") }

// path is the path of a URL that names p.
func (p place) path() string {
	path := uri.Escape(p.String(), uri.Path)
	if p.dir && len(p.names) > 0 {
		path += "/"
	}
	return path
}

// inRoot is p as os.Root wants it.
func (p place) inRoot() string {
	if len(p.names) == 0 {
		return "."
	}
	return filepath.Join(p.names...)
}

// local is p as the system wants it.
func (p place) local() (string, error) {
	if runtime.GOOS == "windows" {
		return dosPath(p.names)
	}
	return p.String(), nil
}

// child is the place of name in the directory p.
func (p place) child(name string) place {
	return place{names: append(slices.Clip(p.names), name)}
}
