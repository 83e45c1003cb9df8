// Package rsync implements the scheme rsync: files, directories and modules of
// rsync daemons, with the versions 27 to 31 of the protocol of rsync.
//
// Pass the result of [Schemes] to fetch.New. A URL of a directory ends in "/".
// rsync://HOST/ lists the modules of a server.
//
// A file is always transferred completely, because the protocol has no ranges.
// Its digest, which the server sends, shows that it is complete. The digest is
// XXH64, MD5 or MD4, and does not prove the origin of the file.
package rsync

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/uri"
)

// Schemes returns the scheme rsync.
func Schemes() []fetch.Scheme {
	return []fetch.Scheme{{
		Name:   "rsync",
		Port:   port,
		Help:   help,
		Ports:  scheme.Ports{Class: scheme.TextPorts},
		Links:  scheme.Links{To: []string{"rsync"}, Confined: true, From: []string{"rsync"}},
		Traits: scheme.Traits{ReportsSize: true, ListsExactSizes: true, WeakValidators: true, Listing: scheme.Directory, Parents: scheme.Folders},
		Mirror: scheme.Mirroring{Files: scheme.FileNames{Native: true}},
		Plan:   plan,
		Menu:   entries.Menu,
		Open:   func(env fetch.Env) fetch.Driver { return newDriver(env) },
	}}
}

const port = 873

// A locator is a parsed URL.
type locator struct {
	module string // "" for the list of modules
	path   string // path in the module, without a slash at the start and the end
	list   bool   // the URL names a directory
}

// maxPath is the maximum length of a path in bytes.
const maxPath = 4000

// locate parses an rsync URL.
func locate(u uri.URI) (l locator, err error) {
	if u.Host() == "" {
		return l, fetch.BadURL.Errorf("rsync URL must have a host, such as rsync://HOST/MODULE/PATH")
	}
	if _, ok := u.Query(); ok {
		return l, fetch.BadURL.Errorf(`rsync URL must not have a query: write "?" as %%3F`)
	}
	path, err := uri.Unescape(u.Path())
	if err != nil {
		return l, fetch.BadURL.With(err)
	}
	if strings.ContainsAny(path, "\x00\r\n") {
		return l, fetch.BadURL.Errorf("NUL or line end in a path") // it would add a line to the conversation
	}
	if len(path) > maxPath {
		return l, fetch.BadURL.Errorf("path longer than %d bytes", maxPath)
	}
	var rest string
	var inside bool
	l.module, rest, inside = strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if l.module == "" && rest != "" || strings.HasPrefix(l.module, "#") || strings.HasPrefix(l.module, "-") {
		return l, fetch.BadURL.Errorf("invalid name of a module")
	}
	l.list = !inside && l.module == "" || strings.HasSuffix(path, "/")
	l.path = strings.Trim(rest, "/")
	return l, nil
}

// folder returns the module and the path of the directory, or of the directory of
// the file.
func (l locator) folder() string { return l.module + "/" + l.directory().path }

// directory returns the locator of the directory, or of the directory of the
// file.
func (l locator) directory() locator {
	if !l.list {
		l.path, l.list = l.path[:max(0, strings.LastIndexByte(l.path, '/'))], true
	}
	return l
}

// name returns the name of the file in its directory.
func (l locator) name() string { return l.path[strings.LastIndexByte(l.path, '/')+1:] }

// argument returns the path for the server. The characters of globs are escaped,
// because the server would expand them.
func (l locator) argument() string {
	escaped := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(l.path)
	if !strings.ContainsAny(l.path, "*?[") {
		escaped = l.path
	}
	path := l.module + "/" + escaped
	if l.list && l.path != "" {
		path += "/"
	}
	return path
}

// options returns the options for a server of the given version. For a file,
// symbolic links are followed.
func (l locator) options(version int) string {
	all := "-Ltd"
	if l.list {
		all = "-ltd"
	}
	if version >= varVersion {
		all += capabilities
	}
	return all
}

// arguments returns the command line of a server of the given version.
func (l locator) arguments(version int) []string {
	const long = "--" // starts the name of an option of rsync
	return []string{long + "server", long + "sender", l.options(version), ".", l.argument()}
}

// plan returns the lines that the driver sends for req to a server of the newest
// version.
func plan(req *fetch.Request) ([]scheme.Step, error) {
	l, err := locate(req.URL)
	if err != nil {
		return nil, err
	}
	if l.module == "" {
		return []scheme.Step{{Verb: "#list"}}, nil
	}
	words := l.arguments(newest)
	return []scheme.Step{{Verb: l.module}, {Verb: words[0], Arg: strings.Join(words[1:], " ")}}, nil
}
