package prospero

import (
	"strings"

	"github.com/anyurl/fetch/uri"
)

// An access is a way to retrieve an object: one ACCESS-METHOD attribute of a
// link, with a method such as AFTP, a host and a name.
type access struct {
	method, host, name string
	extra              string // TEXT or BINARY for AFTP, the item type for GOPHER
}

// accessOf parses an ACCESS-METHOD attribute: method, host type, host, name
// type, name, and an optional argument. Empty parts are taken from the link.
func accessOf(tokens []string, of link) access {
	at := func(n int, otherwise string) string {
		if n < len(tokens) && tokens[n] != "" {
			return tokens[n]
		}
		return otherwise
	}
	return access{method: at(0, ""), host: at(2, of.host), name: at(4, of.name), extra: at(5, "")}
}

// methods lists the supported access methods in order of preference, with
// functions that return their URLs. LOCAL, RCP, NFS and AFS are missing,
// because only the server's own machine can use them.
var methods = []struct {
	name string
	url  func(a access, h host) (uri.URI, bool)
}{
	{"AFTP", anonymousFTP},
	{"GOPHER", gopher},
	{"HTTP", func(a access, h host) (uri.URI, bool) { return h.url("http", 80, rooted(a.name, uri.Path)) }},
	{"WAIS", func(a access, h host) (uri.URI, bool) { return h.url("wais", 210, rooted(a.name, uri.Path)) }},
	{"FTP", func(a access, h host) (uri.URI, bool) {
		return h.url("ftp", 21, "/%2F"+escapeFTP(strings.TrimLeft(a.name, "/")))
	}},
	{"NEWS", news},
	{"NNTP", news},
	{"TELNET", func(a access, h host) (uri.URI, bool) { return h.url("telnet", 23, "/") }},
}

// url returns the URL of an access method and its rank in methods. It returns
// false if the method has no URL.
func (a access) url(base uri.URI) (u uri.URI, rank int, ok bool) {
	h, ok := hostOf(a.host, base)
	if !ok {
		return u, 0, false
	}
	for rank, m := range methods {
		if m.name == a.method {
			u, ok = m.url(a, h)
			return u, rank, ok
		}
	}
	return u, 0, false
}

// anonymousFTP returns an ftp URL whose path starts in the login directory of
// anonymous users.
func anonymousFTP(a access, h host) (uri.URI, bool) {
	path := "/" + escapeFTP(strings.TrimLeft(a.name, "/"))
	switch a.extra {
	case "BINARY":
		path += ";type=i"
	case "TEXT":
		path += ";type=a"
	case "DIRECTORY":
		path = strings.TrimRight(path, "/") + "/"
	}
	return h.url("ftp", 21, path)
}

// escapeFTP escapes an ftp path, including ";", so that no name looks like
// ";type=".
func escapeFTP(path string) string {
	return strings.ReplaceAll(uri.Escape(path, uri.Path), ";", "%3B")
}

// gopher returns a gopher URL. The item type is a separate argument of the
// access method, or the first character of the selector.
func gopher(a access, h host) (uri.URI, bool) {
	if a.name == "" {
		return uri.URI{}, false
	}
	path := a.name
	if len(a.extra) == 1 {
		path = a.extra + a.name
	}
	return h.url("gopher", 70, "/"+uri.Escape(path, uri.Path))
}

func news(a access, h host) (uri.URI, bool) {
	return h.url("nntp", 119, rooted(a.name, uri.Path))
}

func rooted(name string, keep uri.Set) string {
	return "/" + uri.Escape(strings.TrimPrefix(name, "/"), keep)
}
