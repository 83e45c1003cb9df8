// Package localfile implements schemes that name files and directories of this
// machine: file and afs.
//
// A file is a Document and a directory is a Menu. Only regular files and
// directories are read, because opening a device can have side effects and
// reading from a named pipe can block forever.
//
// A directory of up to 4096 entries is sorted by name. A larger directory is
// listed in the order of the file system, so that memory use is limited.
package localfile

import (
	"io"
	"iter"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/uri"
)

// A Scheme describes a scheme with local files.
type Scheme struct {
	Name, Help string

	// Root, if not nil, is the directory to which the URL path "/" refers.
	// Files outside it cannot be read, not even through symbolic links.
	Root *os.Root

	// Mount, if not empty, is the path of a directory that is opened as Root
	// for each request.
	Mount string

	// Locate parses the path of a URL. If Locate is nil, [Locate] is used.
	Locate func(u uri.URI) (Place, error)
}

// Scheme returns s as a fetch.Scheme.
func (s Scheme) Scheme() fetch.Scheme {
	if s.Locate == nil {
		s.Locate = Locate
	}
	return fetch.Scheme{
		Name:  s.Name,
		Help:  s.Help,
		Local: true,
		Links: scheme.Links{To: []string{s.Name}, Confined: true, From: []string{s.Name}},
		Traits: scheme.Traits{Files: true, ListsExactSizes: true, ReportsSize: true,
			Listing: scheme.Directory, Parents: scheme.Folders},
		Proxy:  scheme.ByDriver,
		Mirror: scheme.Mirroring{Files: scheme.FileNames{Native: true}},
		Plan:   s.plan,
		Open:   func(fetch.Env) fetch.Driver { return &driver{s, s.Root} },
		Menu:   menu,
	}
}

// plan returns the file operations that req would perform, each with its path.
// A URL without a final slash can name a file or a directory.
func (s Scheme) plan(req *fetch.Request) ([]scheme.Step, error) {
	p, err := s.Locate(req.URL)
	switch {
	case err != nil:
		return nil, err
	case req.Op == fetch.Stat:
		return []scheme.Step{{Verb: "STAT", Arg: p.String()}}, nil
	case p.dir:
		return []scheme.Step{{Verb: "LIST", Arg: p.String()}}, nil
	}
	steps := []scheme.Step{{Verb: "OPEN", Arg: p.String(), Else: "LIST"}}
	if first := req.Range.First; first != 0 {
		steps = append(steps, scheme.Step{Verb: "SEEK", Arg: strconv.FormatInt(first, 10)})
	}
	return steps, nil
}

// menu parses a directory listing in JSON. JSON cannot represent invalid UTF-8,
// so menu restores such names from the URLs of the entries.
func menu(base uri.URI, media string, r io.Reader) iter.Seq2[fetch.Entry, error] {
	return func(yield func(fetch.Entry, error) bool) {
		for e, err := range entries.Menu(base, media, r) {
			if strings.ContainsRune(e.Name, utf8.RuneError) && !e.URL.IsZero() {
				e.Name = lastSegment(e.URL)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// lastSegment returns the last segment of the path of u after percent-decoding.
func lastSegment(u uri.URI) string {
	path := strings.TrimSuffix(u.Path(), "/")
	name, _ := uri.Unescape(path[strings.LastIndexByte(path, '/')+1:])
	return name
}
