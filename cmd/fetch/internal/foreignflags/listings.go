package foreignflags

import (
	"strconv"
	"strings"
)

// listingPrograms returns the program of which the users of a command that reads
// listings may type options, such as find for "fetch find".
func listingPrograms(command string) []*program {
	timeout := option{names: "--timeout --read-timeout", value: true, fetch: "--connect-timeout VALUE"}
	switch command {
	case "fetch ls":
		return []*program{{name: "ls", clusters: withFlags, options: []option{
			{names: "-S", fetch: "--sort size"}, {names: "-a"}, timeout,
		}}}
	case "fetch find":
		return []*program{{name: "find", clusters: oneWord, options: append(findOptions(), timeout)}}
	case "fetch du":
		return []*program{{name: "du", clusters: withFlags, options: []option{timeout}}}
	case "fetch diff":
		return []*program{{name: "diff", clusters: withFlags, options: []option{{names: "-r"}, {names: "-q"}, timeout}}}
	}
	return nil
}

// findOptions returns the options of find.
func findOptions() []option {
	return []option{
		{names: "-name", value: true, fetch: "--name VALUE"},
		{names: "-iname", value: true, fetch: "--iname VALUE"},
		{names: "-path -wholename", value: true, fetch: "--path VALUE"},
		{names: "-type", value: true, fetch: "--type VALUE", convert: findType},
		{names: "-size", value: true, fetch: "--size VALUE", convert: findSize},
		{names: "-newer -newermt", value: true, fetch: "--newer VALUE"},
		{names: "-maxdepth", value: true, fetch: "--max-depth VALUE"},
		{names: "-mindepth -mtime -mmin", value: true, fetch: missing},
		{names: "-print"}, {names: "-ls", fetch: "--long"}, {names: "-print0", fetch: missing},
	}
}

// findType returns a file type that --type supports, or "".
func findType(kind string) string {
	if kind == "f" || kind == "d" {
		return kind
	}
	return ""
}

// findSize converts a size of find to a value of --size. A number without a unit
// counts blocks of 512 bytes.
func findSize(size string) string {
	number := strings.TrimLeft(size, "+-")
	sign := size[:len(size)-len(number)]
	if digits, ok := strings.CutSuffix(number, "c"); ok {
		return sign + digits
	}
	if n, err := strconv.ParseUint(number, 10, 48); err == nil {
		return sign + strconv.FormatUint(n*512, 10)
	}
	return size
}

// listingSigns returns the signs of the programs in listingPrograms.
func listingSigns() []sign {
	isNoRange := func(v string, _ []word) bool { return !consistsOf(v, "0123456789-, ") }
	return []sign{
		{"ls", "show-error", isSortBySize},
		{"ls", "append", always},
		{"diff", "range", isNoRange},
	}
}

// isSortBySize reports whether the words contain -S, but neither -s nor --native.
// In curl, -S has an effect only with -s.
func isSortBySize(_ string, words []word) bool {
	letter := false
	for _, w := range words {
		if w.flag != nil && (w.flag.Name == "silent" || w.flag.Name == "native") {
			return false
		}
		letter = letter || w.spelled == "-S"
	}
	return letter
}

func always(string, []word) bool { return true }

// restoreRemoteName replaces wget's -O without a file name by curl's -O.
func restoreRemoteName(words []word) []word {
	var all []word
	for _, w := range words {
		if w.flag != nil || w.spelled != "-O" || !w.bare && !isURL(w.value) {
			all = append(all, w)
			continue
		}
		all = append(all, word{spelled: "-O", option: &option{names: "-O", fetch: "-O", mirror: missing}})
		if !w.bare {
			all = append(all, word{value: w.value})
		}
	}
	return all
}
