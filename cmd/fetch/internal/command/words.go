package command

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// divideClusters divides each word such as -sSo before the first argument into -sS
// and -o, if the next word is the value. Otherwise cobra would take this value for
// the name of a command, because it expects values only after single flags.
func divideClusters(flags *pflag.FlagSet, args []string) []string {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if len(arg) < 2 || arg[0] != '-' || arg == "--" {
			return args
		}
		if !lacksValue(flags, arg) {
			continue
		}
		if last := len(arg) - 1; last > 1 && arg[1] != '-' {
			args = slices.Replace(slices.Clone(args), i, i+1, arg[:last], "-"+arg[last:])
			i++
		}
		i++ // the value
	}
	return args
}

// AwaitsValue reports whether args end in a flag whose value is the next word.
func (r *Tree) AwaitsValue(args []string) (awaits bool) {
	r.Set(r.Main)
	flags := r.selected(divideClusters(r.Main.Flags(), args)).Flags()
	for _, arg := range args {
		awaits = !awaits && lacksValue(flags, arg)
	}
	return awaits
}

// lacksValue reports whether a word of the command line is a flag whose value is
// the next word.
func lacksValue(flags *pflag.FlagSet, arg string) bool {
	if name, long := strings.CutPrefix(arg, "--"); long {
		f := flags.Lookup(name)
		return f != nil && f.NoOptDefVal == ""
	}
	letters, short := strings.CutPrefix(arg, "-")
	for short && letters != "" {
		f := flags.ShorthandLookup(letters[:1])
		if letters = letters[1:]; f == nil || f.NoOptDefVal == "" {
			return f != nil && letters == ""
		}
	}
	return false
}
