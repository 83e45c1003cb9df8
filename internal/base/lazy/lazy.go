// Package lazy creates values of package variables at their first use. One run
// of the command uses few of these variables. Creating all of them at the start
// would take longer than a small download.
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
