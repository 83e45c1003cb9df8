package prospero

import (
	"strings"

	"github.com/anyurl/fetch/uri"
)

// An access is one way to have an object: the tokens of an ACCESS-METHOD
// attribute. Empty ones are those of the link.
type access struct {
	method, host, name string
	extra              string // TEXT or BINARY for AFTP, the type of an item for GOPHER
}

// accessOf reads the tokens behind SEQUENCE: method, type of host, host, type
// of name, name, and what the method adds.
func accessOf(tokens []string, of link) access {
	at := func(n int, otherwise string) string {
		if n < len(tokens) && tokens[n] != "" {
			return tokens[n]
		}
		return otherwise
	}
	return access{method: at(0, ""), host: at(2, of.host), name: at(4, of.name), extra: at(5, "")}
}

// methods turn an access into a URL, the preferred first. What is not here
// (LOCAL, RCP, NFS, AFS) is a way that only the machine of the server has, or
// nobody any more.
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

// url is the URL of a, where its method has one.
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

// anonymousFTP: the name is a path from the folder that strangers log in to.
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

// escapeFTP keeps the names of a path apart from its ";type=".
func escapeFTP(path string) string {
	return strings.ReplaceAll(uri.Escape(path, uri.Path), ";", "%3B")
}

// gopher: the type of the item stands beside its selector, or begins it.
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
