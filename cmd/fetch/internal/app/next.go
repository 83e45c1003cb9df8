package app

import (
	"slices"
	"strings"
)

// globalFlags are the flags that apply to all groups of --next, as in curl. They
// have no value.
var globalFlags = []string{"--silent", "--show-error", "--verbose", "--no-config", "--error-json", "--no-progress-meter", "--trace-time"}

// globalLetters are the letters of these flags.
const globalLetters = "sSvq"

// groupsOf divides a command line at --next and its short form -:. Each later
// group gets the global flags of the groups before it. The words after "--" are
// arguments.
func groupsOf(args []string) [][]string {
	groups := [][]string{nil}
	var global []string
	for i, arg := range args {
		if arg == "--" {
			last := len(groups) - 1
			groups[last] = append(groups[last], args[i:]...)
			break
		}
		if arg == "--next" || arg == "-:" {
			groups = append(groups, slices.Clone(global))
			continue
		}
		if slices.Contains(globalFlags, arg) || len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && strings.Trim(arg[1:], globalLetters) == "" {
			global = append(global, arg)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], arg)
	}
	return groups
}
