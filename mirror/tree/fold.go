package tree

import (
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// fold maps all paths to one that some file system takes for the same: full
// case folding and NFC, which is stricter than NTFS and as strict as APFS.
func fold(path string) string {
	for i := range len(path) {
		if path[i] >= 0x80 {
			return norm.NFC.String(cases.Fold().String(norm.NFC.String(path)))
		}
	}
	return strings.ToLower(path)
}
