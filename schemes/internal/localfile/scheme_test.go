package localfile

import (
	"os"

	"github.com/anyurl/fetch/fetch"
)

// Options selects the root directory of the scheme file in tests.
type Options struct{ Root *os.Root }

// Schemes returns the scheme file.
func Schemes(o Options) []fetch.Scheme {
	return []fetch.Scheme{Scheme{Name: "file", Root: o.Root}.Scheme()}
}
