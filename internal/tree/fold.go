package tree

import (
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold returns a text that is equal for all paths that some file system treats
// as equal, such as paths that differ only in case.
func Fold(path string) string { return fold(path) }

// fold returns the form of path for the canonical caseless match of Unicode
// (D145). This match is stricter than NTFS and as strict as APFS.
func fold(path string) string {
	for i := range len(path) {
		if path[i] >= 0x80 {
			return norm.NFD.String(cases.Fold().String(norm.NFD.String(path)))
		}
	}
	return strings.ToLower(path)
}
