package foreignflags

import (
	"regexp"
	"slices"
	"strings"

	"github.com/anyurl/fetch/internal/base/media"
)

// outputName returns the value of wget's -O unchanged. An empty name has no
// equivalent.
func outputName(name string) string { return name }

// wgetDepth converts a recursion depth of wget, where 0 means no limit, to a
// value of --depth.
func wgetDepth(level string) string {
	if level == "0" {
		return "inf"
	}
	return level
}

// wgetrc converts a command of wget's configuration file, such as "robots=off",
// to flags of fetch.
func wgetrc(command string) string {
	name, value, _ := strings.Cut(strings.ReplaceAll(command, " ", ""), "=")
	name, off := strings.ToLower(name), value == "off" || value == "no" || value == "0"
	switch {
	case name == "robots" && off:
		return "--ignore-robots"
	case name == "use_proxy" && off:
		return "--noproxy *"
	case name == "http_proxy" || name == "https_proxy" || name == "ftp_proxy":
		return "-x " + value
	}
	return ""
}

// mediaTypes converts a list of suffixes and patterns of file names, such as
// "jpg,*.png", to a list of media types. It returns "" if the type of a suffix
// is unknown.
func mediaTypes(list string) string {
	var types []string
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimLeft(name, "*.")
		if name == "" || strings.ContainsAny(name, "*?[/") {
			return ""
		}
		t := media.ByName("x." + name)
		if t == "" {
			return ""
		}
		if !slices.Contains(types, t) {
			types = append(types, t)
		}
	}
	return strings.Join(types, ",")
}

// suffixPattern converts a list of suffixes to a regular expression that
// matches the ends of URLs.
func suffixPattern(list string) string {
	all := strings.Split(list, ",")
	for i, name := range all {
		name = strings.TrimLeft(name, "*.")
		if name == "" || strings.ContainsAny(name, "*?[") {
			return ""
		}
		all[i] = regexp.QuoteMeta(name)
	}
	return `[.](` + strings.Join(all, "|") + `)$`
}

// domainPattern converts a list of domains to a regular expression that matches
// the URLs of their hosts.
func domainPattern(list string) string {
	return `^[a-z]+://([^/]*[.])?(` + strings.ReplaceAll(regexp.QuoteMeta(list), ",", "|") + `)[:/]`
}

// directoryPattern converts a list of directories to a regular expression that
// matches the URLs below them.
func directoryPattern(list string) string {
	all := strings.Split(list, ",")
	for i, name := range all {
		if strings.ContainsAny(name, "*?[") {
			return ""
		}
		all[i] = regexp.QuoteMeta(strings.Trim(name, "/"))
	}
	return `^[a-z]+://[^/]*/(` + strings.Join(all, "|") + `)/`
}

// lftpURL returns the first URL in a list of lftp commands, such as
// "open URL; mirror".
func lftpURL(commands string) string {
	for _, word := range strings.Fields(commands) {
		if word = strings.Trim(word, `;"'`); isURL(word) {
			return word
		}
	}
	return ""
}

// hasMirror reports whether text is a list of lftp commands that includes
// "mirror".
func hasMirror(text string) bool {
	return strings.Contains(text, " ") && slices.Contains(strings.Fields(text), "mirror")
}
