package file

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A place is the path of the file or directory that a URL names, as a list of
// segments.
type place struct {
	names []string // decoded path segments from the root, without dot segments
	dir   bool     // the URL ends in a slash, so the file must be a directory
}

// locate parses the path of a file URL. It removes dot segments,
// percent-encoded or not, before any file is opened. Equivalent URLs (RFC 3986
// section 6.2.2) therefore name the same file, and no URL names a file above
// the root.
func locate(u uri.URI) (place, error) {
	if err := validate(u); err != nil {
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

// validate returns an error for a URL with components that file URLs do not
// have. It never resolves the host.
func validate(u uri.URI) error {
	_, user := u.Userinfo()
	_, port := u.Port()
	_, query := u.Query()
	switch host := u.Host(); {
	case user:
		return fetch.BadURL.Errorf("file URL must not have a user")
	case port:
		return fetch.BadURL.Errorf("file URL must not have a port")
	case host != "" && !strings.EqualFold(host, "localhost"):
		return refusal("file URL names another host", "host "+host)
	case !strings.HasPrefix(u.Path(), "/"):
		return fetch.BadURL.Errorf("file URL must have an absolute path, such as file:///etc/hosts")
	case query:
		return fetch.BadURL.Errorf(`file URL must not have a query: write "?" in a file name as %%3F`)
	}
	return nil
}

// String returns the path as a string without a final slash.
func (p place) String() string { return "/" + strings.Join(p.names, "/") }

// path returns the URL path of p.
func (p place) path() string {
	path := uri.Escape(p.String(), uri.Path)
	if p.dir && len(p.names) > 0 {
		path += "/"
	}
	return path
}

// inRoot returns p as a path for os.Root.
func (p place) inRoot() string {
	if len(p.names) == 0 {
		return "."
	}
	return filepath.Join(p.names...)
}

// local returns the path in the syntax of the operating system.
func (p place) local() (string, error) {
	if runtime.GOOS == "windows" {
		return dosPath(p.names)
	}
	return p.String(), nil
}

// child returns the path of a file in the directory p.
func (p place) child(name string) place {
	return place{names: append(slices.Clip(p.names), name)}
}
