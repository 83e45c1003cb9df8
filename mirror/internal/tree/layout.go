package tree

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A Layout is a version of the rules for paths. An archive keeps the Layout
// with which it was created, because its files never move.
type Layout int

const (
	// FirstLayout is the Layout of archives that do not store a Layout. Names
	// in this Layout can begin with "." or "-".
	FirstLayout Layout = 1

	// safeLayout is the first Layout that encodes "." and "-" at the start of a
	// name.
	safeLayout Layout = 2

	// NewLayout is the Layout of new archives. It keeps the names of files on
	// file servers, such as "name with space.txt".
	NewLayout Layout = 3
)

// Path returns the path of u in this Layout, as described at the function
// [Path].
func (l Layout) Path(s fetch.Scheme, u uri.URI, menu bool) string { return pathOf(s, u, menu, l) }

// Name returns a file name for text in this Layout, as described at the
// function [Name].
func (l Layout) Name(text string) string { return l.guard(escape(text)) }

// guard encodes a character of name if a program could interpret the name, or
// if the name is reserved, for example by Windows.
func (l Layout) guard(name string) string {
	if l >= safeLayout && isSpecialName(name) {
		name = string(encode(nil, name[0])) + name[1:]
	}
	return guard(name)
}

// escape encodes the characters of a path segment that a name must not contain.
// The parameter native is true if path segments are names of files.
func (l Layout) escape(segment string, native bool) string {
	if l < NewLayout || !native {
		return escape(segment)
	}
	name := escapeExcept(segment, &isPrintable)
	if strings.HasPrefix(name, " ") {
		name = "%20" + name[1:]
	}
	if front, ok := strings.CutSuffix(name, " "); ok {
		name = front + "%20" // Windows ignores spaces at the end of a name
	}
	return name
}

// LayoutOf returns the Layout of an archive whose tree contains path. If the
// path is the same in all Layouts, LayoutOf returns NewLayout. An archive has
// the lowest Layout of its paths. The function scheme returns the scheme with a
// name.
func LayoutOf(path string, scheme func(name string) fetch.Scheme) Layout {
	if Upgrade(path) != path {
		return FirstLayout
	}
	names := strings.Split(path, "/")
	if len(names) < 3 || !scheme(names[0]).Mirror.Files.Native {
		return NewLayout
	}
	for _, name := range names[2:] {
		name, _, _ = strings.Cut(name, "@q=")
		if safeLayout.guard(escape(name)) == name && NewLayout.guard(NewLayout.escape(name, true)) != name {
			return safeLayout
		}
	}
	return NewLayout
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

// Upgrade encodes the names in a path of any Layout that a program could
// interpret. Two different paths have different results.
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
