package tree

import (
	"strings"

	"github.com/anyurl/fetch/uri"
)

// Relative returns a relative URL reference from one file to another. Both
// parameters are paths in the same tree.
func Relative(from, to string) string {
	common := 0
	for i := 0; i < min(len(from), len(to)) && from[i] == to[i]; i++ {
		if from[i] == '/' {
			common = i + 1
		}
	}
	up := strings.Repeat("../", strings.Count(from[common:], "/"))
	return up + uri.Escape(to[common:], uri.Path)
}
