package tree

import (
	"strings"

	"github.com/anyurl/fetch/uri"
)

// A Layout is a version of the rules for paths. An archive keeps the Layout
// with which it was created, because its files never move.
type Layout int

const (
	// FirstLayout is the Layout of archives that do not store a Layout. Names
	// in this Layout can begin with "." or "-".
	FirstLayout Layout = 1

	// NewLayout is the Layout of new archives.
	NewLayout Layout = 2
)

// Path returns the path of u in this Layout, as described at the function
// [Path].
func (l Layout) Path(u uri.URI, menu bool) string { return pathOf(u, menu, l) }

// Name returns a file name for text in this Layout, as described at the
// function [Name].
func (l Layout) Name(text string) string { return l.guard(escape(text)) }

// guard encodes a character of name if a program could interpret the name, or
// if the name is reserved, for example by Windows.
func (l Layout) guard(name string) string {
	if l >= NewLayout && isSpecialName(name) {
		name = string(encode(nil, name[0])) + name[1:]
	}
	return guard(name)
}

// isSpecialName reports whether a program could interpret name. A hidden file
// can be a configuration file, such as .git/config. Commands interpret a name
// that begins with "-" as an option. The command git treats a directory with
// HEAD, objects and refs as a repository and executes commands in its
// configuration.
func isSpecialName(name string) bool {
	if name == "" || name == "." || name == ".." {
		return false
	}
	return name[0] == '.' || name[0] == '-' || strings.EqualFold(name, "HEAD")
}

// Upgrade converts a path in any Layout to a path in [NewLayout]. Two different
// paths have different results.
func Upgrade(path string) string {
	names := strings.Split(path, "/")
	for i, name := range names {
		if isSpecialName(name) && !isListing(name) {
			names[i] = string(encode(nil, name[0])) + name[1:]
		}
	}
	return strings.Join(names, "/")
}

// isListing reports whether name can be the file name of a listing.
func isListing(name string) bool {
	for _, own := range []string{".gophermap", ".overview", ".listing"} {
		if strings.HasPrefix(name, own) {
			return true
		}
	}
	return false
}
