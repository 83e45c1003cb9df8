// Package file is the scheme of the files of this machine: file URLs as in
// RFC 8089 and RFC 1738 3.10.
//
// Call Schemes for fetch.New. A program that shows files to others confines
// them with Options.Root.
//
// A file is a Document, a directory a Menu. A URL names this machine alone:
// its host is absent, empty or "localhost", and never another to be asked by
// ftp or as a share. Only regular files and directories are read: a device
// may act when it is opened, a named pipe may never answer.
//
// A directory of up to 4096 entries is listed in the order of its names, a
// larger one in its own order and in flat memory.
package file

import (
	"io"
	"iter"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/entries"
	"github.com/anyurl/fetch/uri"
)

// Options say which files there are. The zero Options have all that the
// process may read.
type Options struct {
	// Root, if not nil, is the directory that file:/// names. Nothing
	// outside it can be reached, by symbolic links neither. It is the
	// caller's to close, after the Client.
	Root *os.Root
}

// Schemes returns the scheme file.
func Schemes(o Options) []fetch.Scheme {
	return []fetch.Scheme{{
		Name:   "file",
		Help:   help,
		Local:  true,
		Links:  fetch.Links{To: []string{"file"}, Confined: true, From: []string{"file"}},
		Traits: fetch.Traits{Files: true, Exact: true, Sizes: true},
		Proxy:  fetch.ByDriver,
		Plan:   plan,
		Open:   func(fetch.Env) fetch.Driver { return &driver{o.Root} },
		Menu:   menu,
	}}
}

// plan tells what is done with which path. A URL without a slash at its end
// may yet name a directory.
func plan(req *fetch.Request) ([]fetch.Step, error) {
	p, err := locate(req.URL)
	switch {
	case err != nil:
		return nil, err
	case req.Op == fetch.Stat:
		return []fetch.Step{{Verb: "STAT", Arg: p.String()}}, nil
	case p.dir:
		return []fetch.Step{{Verb: "LIST", Arg: p.String()}}, nil
	}
	steps := []fetch.Step{{Verb: "OPEN", Arg: p.String(), Else: "LIST"}}
	if first := req.Range.First; first != 0 {
		steps = append(steps, fetch.Step{Verb: "SEEK", Arg: strconv.FormatInt(first, 10)})
	}
	return steps, nil
}

// menu gives back to each name the bytes that JSON could not hold.
func menu(base uri.URI, media string, r io.Reader) iter.Seq2[fetch.Entry, error] {
	return func(yield func(fetch.Entry, error) bool) {
		for e, err := range entries.Menu(base, media, r) {
			if strings.ContainsRune(e.Name, utf8.RuneError) && !e.URL.IsZero() {
				e.Name = nameIn(e.URL)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// nameIn returns the last name in the path of u.
func nameIn(u uri.URI) string {
	path := strings.TrimSuffix(u.Path(), "/")
	name, _ := uri.Unescape(path[strings.LastIndexByte(path, '/')+1:])
	return name
}
