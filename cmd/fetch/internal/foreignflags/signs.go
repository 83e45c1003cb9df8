package foreignflags

import (
	"net"
	"net/netip"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/uri"
)

// A sign detects that the user meant another program, because the value of a
// flag makes no sense for fetch.
type sign struct {
	program string
	flag    string // long name of the flag of fetch
	shown   func(value string, words []word) bool
}

// signs returns the signs of other programs. They match only values that make
// no sense for the flag of fetch, because all other values have curl's meaning.
func signs() []sign {
	return []sign{
		{"wget", "range", func(v string, _ []word) bool { return !consistsOf(v, "0123456789-, ") }},
		{"wget", "max-time", func(v string, _ []word) bool { _, ok := options.ParseSeconds(v); return !ok }},
		{"wget", "cookie-jar", isOptionOrURL},
		{"wget", "cert", isOptionOrURL},
		{"wget", "config", func(v string, words []word) bool { return v != "-" && isOptionOrURL(v, words) }},
		{"wget", "cookie", func(v string, _ []word) bool { return strings.Contains(v, "://") && !isPair(v) }},
		{"wget", "header", func(v string, _ []word) bool { return isURL(v) }},
		{"wget", "referer", func(v string, _ []word) bool { return isSetting(v) }},
		{"wget", "proxy-user", func(v string, _ []word) bool { return strings.ContainsAny(v, "/ ") && !strings.Contains(v, ":") }},
		{"wget", "user-agent", func(v string, _ []word) bool { return strings.HasPrefix(v, "*.") || mediaTypes(v) != "" }},
		{"wget", "dump-header", isDomains},
		{"wget", "ftp-port", func(v string, _ []word) bool { return !isLocalAddress(v) }},
		{"wget", "telnet-option", func(v string, _ []word) bool { return isNumber(v) }},
		{"wget", "quote", func(v string, _ []word) bool { return v != "" && v[0] >= '0' && v[0] <= '9' }},
		{"wget", "upload-file", func(v string, _ []word) bool { return isNumber(v) }},
		{"wget", "list-only", func(_ string, words []word) bool { return hasArgument(words, isNumber) }},
		{"wget", "include", func(_ string, words []word) bool { return hasArgument(words, isFile) }},
		{"wget", "remote-name", isDocument},
		{"aria2", "proxy", func(v string, _ []word) bool { return isNumber(v) }},
		{"wget", "data", func(v string, words []word) bool {
			return isOptionOrURL(v, words) && !hasArgument(words, isURL)
		}},
		{"lftp", "cookie-jar", func(v string, _ []word) bool { return hasMirror(v) }},
		{"lftp", "referer", func(v string, _ []word) bool { return hasMirror(v) }},
		{"lynx", "data", func(v string, words []word) bool { return v == "ump" }},
	}
}

func isURL(text string) bool {
	scheme, _, ok := strings.Cut(text, "://")
	return ok && scheme != "" && !strings.ContainsAny(scheme, "=?&;/ ")
}

func isOptionOrURL(text string, _ []word) bool {
	return text == "" || isURL(text) || len(text) > 1 && text[0] == '-'
}

// isPair reports whether text is a cookie, NAME=VALUE.
func isPair(text string) bool {
	name, _, ok := strings.Cut(text, "=")
	return ok && !strings.Contains(name, "://")
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// isFile reports whether text is the name of a regular file and not a URL.
func isFile(text string) bool {
	info, err := os.Stat(text)
	return err == nil && info.Mode().IsRegular() && !strings.Contains(text, "/")
}

// isLocalAddress reports whether text can be the value of curl's -P: an
// address, a host name, or the name of a network interface.
func isLocalAddress(text string) bool {
	text = strings.TrimSuffix(text, ",")
	if text == "-" || text == "localhost" {
		return true
	}
	host, _, err := net.SplitHostPort(text)
	if err != nil {
		host = text
	}
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return true
	}
	if strings.HasPrefix(host, ".") || strings.Contains(host, "/") {
		return false
	}
	if strings.Contains(host, ".") {
		info, err := os.Stat(text)
		return err != nil || !info.IsDir()
	}
	_, err = net.InterfaceByName(host)
	return err == nil
}

// isDocument reports whether the first argument is a file name before a URL, as
// in wget's "-O FILE URL". With curl's -O, a URL without a path has no file
// name.
func isDocument(_ string, words []word) bool {
	var args []string
	for _, w := range words {
		if w.spelled == "" {
			args = append(args, w.value)
		}
	}
	return len(args) > 1 && !strings.ContainsAny(args[0], "/:") && isURL(args[1])
}

// isSetting reports whether text is a line of wget's configuration file, such
// as "robots=off", and no URL.
func isSetting(text string) bool {
	name, _, ok := strings.Cut(text, "=")
	return ok && name != "" && consistsOf(strings.TrimSpace(strings.ToLower(name)), "abcdefghijklmnopqrstuvwxyz_")
}

// isDomains reports whether text is a list of domains and not the name of a
// file, such as headers.txt. A single name is a domain if it contains the host
// of an argument, or ends like many domains and few files.
func isDomains(text string, words []word) bool {
	if text == "" || strings.ContainsAny(text, "/ ") || isFile(text) {
		return false
	}
	if strings.Contains(text, ",") {
		return strings.Contains(text, ".")
	}
	switch path.Ext(text) {
	case ".com", ".edu", ".gov", ".net", ".org":
		return true
	}
	return strings.Contains(text, ".") && hasArgument(words, func(arg string) bool {
		u, err := uri.Parse(arg)
		return err == nil && strings.HasSuffix("."+strings.ToLower(u.Host()), "."+strings.ToLower(text))
	})
}

// LogName reports whether a value of curl's -o looks like a value of wget's -o,
// the file for messages. It returns false if an argument is the URL of a log.
func LogName(file string, args []string) bool {
	if base := path.Base(file); base != "log" && base != "wget-log" && !strings.HasSuffix(base, ".log") {
		return false
	}
	return !slices.ContainsFunc(args, func(arg string) bool { return strings.Contains(path.Base(arg), "log") })
}

func hasArgument(words []word, is func(string) bool) bool {
	for _, w := range words {
		if w.spelled == "" && is(w.value) {
			return true
		}
	}
	return false
}
