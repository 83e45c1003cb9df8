package app

import (
	"slices"
	"strings"
)

// globalFlags are the flags that apply to all groups of --next, as in curl. They
// have no value.
var globalFlags = []string{"--silent", "--show-error", "--verbose", "--no-config", "--error-json", "--no-progress-meter", "--trace-time"}

// globalLetters are the letters of these flags. A later command can use such a
// letter for another flag.
var globalLetters = map[rune]string{'s': "--silent", 'S': "--show-error", 'v': "--verbose", 'q': "--no-config"}

// globalFlagsOf returns the flags for all groups in an argument such as -sS.
func globalFlagsOf(arg string) (flags []string) {
	if slices.Contains(globalFlags, arg) {
		return []string{arg}
	}
	letters, ok := strings.CutPrefix(arg, "-")
	if !ok {
		return nil
	}
	for _, letter := range letters {
		name, ok := globalLetters[letter]
		if !ok {
			return nil
		}
		flags = append(flags, name)
	}
	return flags
}

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
		global = append(global, globalFlagsOf(arg)...)
		groups[len(groups)-1] = append(groups[len(groups)-1], arg)
	}
	return groups
}
