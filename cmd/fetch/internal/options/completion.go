package options

import (
	"slices"

	"github.com/spf13/pflag"
)

// valuesKey is the key of the pflag annotation that lists the values of a flag.
const valuesKey = "values"

// SetValues records the values that f accepts, for shell completion. It does
// not reject other values.
func SetValues(f *pflag.Flag, values ...string) {
	f.Annotations = map[string][]string{valuesKey: values}
}

// Values returns a copy of the values that SetValues has recorded for f.
func Values(f *pflag.Flag) []string { return slices.Clone(f.Annotations[valuesKey]) }
