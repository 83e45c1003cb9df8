package tree

import (
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold returns the same text for all paths that a file system could treat as
// equal, such as paths that differ only in case.
func Fold(path string) string { return fold(path) }

// fold returns the form of path for the canonical caseless match of Unicode
// (D145). This match treats more paths as equal than NTFS, and as many as APFS.
func fold(path string) string {
	for i := range len(path) {
		if path[i] >= 0x80 {
			return norm.NFD.String(cases.Fold().String(norm.NFD.String(path)))
		}
	}
	return strings.ToLower(path)
}
