package tree

import (
	"strings"

	"github.com/anyurl/fetch/uri"
)

// A Layout is a version of the rules that give a URL its path. An archive keeps
// the Layout that it was begun with, because files never move.
type Layout int

const (
	// FirstLayout is that of archives which do not record one: names of servers
	// may begin with "." or "-".
	FirstLayout Layout = 1

	// NewLayout is that of new archives.
	NewLayout Layout = 2
)

// Path is the function [Path] by the rules of l.
func (l Layout) Path(u uri.URI, menu bool) string { return pathOf(u, menu, l) }

// Name is the function [Name] by the rules of l.
func (l Layout) Name(text string) string { return l.guard(escaped(text)) }

// guard makes a name of characters that are legal one that is.
func (l Layout) guard(name string) string {
	if l >= NewLayout && acts(name) {
		name = string(encode(nil, name[0])) + name[1:]
	}
	return guard(name)
}

// acts reports whether a program could read more than a name into name: a
// hidden file may be a configuration (.git/config, .htaccess), and a command
// takes what begins with "-" for an option. git treats a folder that has a
// HEAD, objects and refs as a repository, and obeys the config in it.
func acts(name string) bool {
	if name == "" || name == "." || name == ".." {
		return false
	}
	return name[0] == '.' || name[0] == '-' || strings.EqualFold(name, "HEAD")
}

// Upgrade returns the path that a file at path, of any layout, has in a copy by
// the rules of [NewLayout]. Files of different paths stay apart.
func Upgrade(path string) string {
	names := strings.Split(path, "/")
	for i, name := range names {
		if acts(name) && !isListing(name) {
			names[i] = string(encode(nil, name[0])) + name[1:]
		}
	}
	return strings.Join(names, "/")
}

// isListing reports whether name is one that a listing may have.
func isListing(name string) bool {
	for _, own := range []string{".gophermap", ".overview", ".listing"} {
		if strings.HasPrefix(name, own) {
			return true
		}
	}
	return false
}
