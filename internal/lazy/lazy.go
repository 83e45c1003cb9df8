// Package lazy creates values of package variables at their first use. A process
// of the command uses few of them, so creating all at its start takes longer than
// a small download.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a function that returns the compiled regular expression. Its
// first call compiles the expression and panics if it is invalid.
func Regexp(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
