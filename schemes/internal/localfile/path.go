package localfile

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A Place is the path of the file or directory that a URL names, as a list of
// segments.
type Place struct {
	names []string // decoded path segments from the root, without dot segments
	dir   bool     // the URL ends in a slash, so the file must be a directory
	lead  string   // first part of the URL path that is not in names, such as "/afs"
	host  bool     // the first name is the host of the URL, not a part of its path
}

// Locate parses the path of a file URL.
func Locate(u uri.URI) (Place, error) {
	if err := validate(u); err != nil {
		return Place{}, err
	}
	return ParsePath(u.Path())
}

// ParsePath parses a URL path that starts with a slash. It removes dot segments,
// percent-encoded or not, before any file is opened. Equivalent URLs (RFC 3986
// section 6.2.2) therefore name the same file, and no URL names a file above
// the root.
func ParsePath(path string) (Place, error) {
	var names []string
	last := ""
	for segment := range strings.SplitSeq(path[1:], "/") {
		name, err := uri.Unescape(segment)
		if err != nil {
			return Place{}, fetch.BadURL.With(err)
		}
		if strings.ContainsAny(name, "/\x00") {
			return Place{}, fetch.BadURL.Errorf("encoded slash or NUL in a file name")
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
	return Place{names: names, dir: last == "" || last == "." || last == ".."}, nil
}

// WithoutFirst returns p without its first segment if this segment is equal to
// name. Otherwise it returns p unchanged.
func (p Place) WithoutFirst(name string) Place {
	if len(p.names) > 0 && p.names[0] == name {
		p.names, p.lead = p.names[1:], "/"+name
	}
	return p
}

// Below returns the place in the directory host that has the path of p.
func (p Place) Below(host string) Place {
	p.names, p.host = append([]string{host}, p.names...), true
	return p
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
func (p Place) String() string { return "/" + strings.Join(p.names, "/") }

// path returns the URL path of p.
func (p Place) path() string {
	shown := p
	if p.host {
		shown.names = p.names[1:]
	}
	path := uri.Escape(p.lead+strings.TrimSuffix(shown.String(), "/"), uri.Path)
	if p.dir || path == "" {
		path += "/"
	}
	return path
}

// inRoot returns p as a path for os.Root.
func (p Place) inRoot() string {
	if len(p.names) == 0 {
		return "."
	}
	return filepath.Join(p.names...)
}

// local returns the path in the syntax of the operating system.
func (p Place) local() (string, error) {
	if runtime.GOOS == "windows" {
		return dosPath(p.names)
	}
	return p.String(), nil
}

// child returns the path of a file in the directory p.
func (p Place) child(name string) Place {
	p.names, p.dir = append(slices.Clip(p.names), name), false
	return p
}
