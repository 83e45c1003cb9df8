package command

import (
	"os"
	"slices"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/verify"
	"github.com/anyurl/fetch/verify/blake"
	"github.com/spf13/pflag"
)

// digestAdvice returns advice for an unknown flag that is named after a digest,
// such as --sha256, if the command verifies downloads. Otherwise it returns "".
func digestAdvice(flags *pflag.FlagSet, name string) string {
	checksum := flags.Lookup("checksum")
	if checksum == nil || checksum.Hidden {
		return ""
	}
	name = strings.TrimSuffix(strings.ToLower(name), "sum")
	for _, algorithm := range verify.Algorithms(blake.Algorithms()...) {
		if name == algorithm || strings.ReplaceAll(name, "-", "") == algorithm {
			return "; use --checksum " + algorithm + "=HEX"
		}
	}
	return ""
}

// rejectDetachedValue returns an error if the value of a flag with an optional
// value is an argument, as in "--render text". The name of a file is an argument.
func rejectDetachedValue(flags *pflag.FlagSet, args []string) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if f.NoOptDefVal == "" || f.Value.String() != f.NoOptDefVal || err != nil {
			return
		}
		for _, value := range options.Values(f) {
			if _, missing := os.Stat(value); missing != nil && slices.Contains(args, value) {
				err = fetch.Usage.Errorf("%q is no URL; to set the value of the flag: --%s=%s", value, f.Name, value)
				return
			}
		}
	})
	return err
}
