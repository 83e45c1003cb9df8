package tree

import (
	"strings"

	"github.com/anyurl/fetch/uri"
)

// A Layout is a version of the rules for paths. An archive keeps its first
// Layout, because its files never move.
type Layout int

const (
	// FirstLayout is the Layout of archives that record none. Its names may
	// begin with "." or "-".
	FirstLayout Layout = 1

	// NewLayout is the Layout of new archives.
	NewLayout Layout = 2
)

// Path returns the path of u by the rules of l. See the function [Path].
func (l Layout) Path(u uri.URI, menu bool) string { return pathOf(u, menu, l) }

// Name returns the name for text by the rules of l. See the function [Name].
func (l Layout) Name(text string) string { return l.guard(escape(text)) }

// guard returns a valid name for a name of valid characters.
func (l Layout) guard(name string) string {
	if l >= NewLayout && isSpecialName(name) {
		name = string(encode(nil, name[0])) + name[1:]
	}
	return guard(name)
}

// isSpecialName reports whether a program may interpret name. A hidden file may
// be a configuration, such as .git/config. Commands read a name that begins
// with "-" as an option. git treats a folder with HEAD, objects and refs as a
// repository and executes commands of its configuration.
func isSpecialName(name string) bool {
	if name == "" || name == "." || name == ".." {
		return false
	}
	return name[0] == '.' || name[0] == '-' || strings.EqualFold(name, "HEAD")
}

// Upgrade converts a path of any layout to a path by the rules of [NewLayout].
// Different paths have different results.
func Upgrade(path string) string {
	names := strings.Split(path, "/")
	for i, name := range names {
		if isSpecialName(name) && !isListing(name) {
			names[i] = string(encode(nil, name[0])) + name[1:]
		}
	}
	return strings.Join(names, "/")
}

// isListing reports whether name may be the name of a listing.
func isListing(name string) bool {
	for _, own := range []string{".gophermap", ".overview", ".listing"} {
		if strings.HasPrefix(name, own) {
			return true
		}
	}
	return false
}
