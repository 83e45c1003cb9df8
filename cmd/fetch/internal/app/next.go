package app

import (
	"slices"
	"strings"
)

// globalFlags are the flags without a value that apply to all groups of --next, as
// in curl.
var globalFlags = []string{"--silent", "--show-error", "--verbose", "--no-config", "--error-json", "--no-progress-meter", "--trace-time"}

// globalFiles are the flags for files of messages, which apply to all groups too.
var globalFiles = []string{"--stderr", "--trace-ascii", "--trace"}

// globalLetters are the letters of these flags. A later command can use such a
// letter for another flag.
var globalLetters = map[rune]string{'s': "--silent", 'S': "--show-error", 'v': "--verbose", 'q': "--no-config"}

// globalFlagsOf returns the flags for all groups in an argument such as -sS. The
// next argument can be the value of a flag.
func globalFlagsOf(arg, next string) (flags []string) {
	name, _, hasValue := strings.Cut(arg, "=")
	switch {
	case slices.Contains(globalFlags, arg), hasValue && slices.Contains(globalFiles, name):
		return []string{arg}
	case slices.Contains(globalFiles, arg):
		return []string{arg, next}
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
// arguments. The value of a flag has no effect, such as a text from a stranger: after
// -A, --next would otherwise start a group without the flags before it. The function
// awaitsValue reports whether a group ends in a flag whose value is the next word.
func groupsOf(args []string, awaitsValue func(group []string) bool) [][]string {
	if !slices.Contains(args, "--next") && !slices.Contains(args, "-:") {
		return [][]string{args}
	}
	groups := [][]string{nil}
	var global []string
	for i, arg := range args {
		last := len(groups) - 1
		next := ""
		if i+1 < len(args) {
			next = args[i+1]
		}
		flags := globalFlagsOf(arg, next)
		divides := arg == "--next" || arg == "-:"
		switch special := divides || arg == "--" || flags != nil; {
		case special && awaitsValue(groups[last]):
		case arg == "--":
			groups[last] = append(groups[last], args[i:]...)
			return groups
		case divides:
			groups = append(groups, slices.Clone(global))
			continue
		default:
			global = append(global, flags...)
		}
		groups[last] = append(groups[last], arg)
	}
	return groups
}
