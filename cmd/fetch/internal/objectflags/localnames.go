package objectflags

import (
	"path/filepath"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/uri"
)

// nameFlags are the flags for the names of files that are named after URLs.
type nameFlags struct {
	directories bool
	noHost      bool
	cutDirs     int
	verbatim    bool
}

func (f *nameFlags) Register(s *options.Set) {
	p := s.Section("Output")
	p.BoolVar(&f.directories, "force-directories", false, "name files after the host and the complete path of the URL")
	p.BoolVar(&f.noHost, "no-host-directories", false, "like --force-directories, but without the host")
	p.IntVar(&f.cutDirs, "cut-dirs", 0, "like --force-directories, but without the first `N` directories")
	p.BoolVar(&f.verbatim, "verbatim-names", false, "do not escape characters such as spaces in names of files")
	p.Bool("no-directories", true, "do not create directories (default)")
	p.Lookup("no-directories").Hidden = true
}

// Directories reports whether the names have the directories of URLs.
func (f *nameFlags) Directories() bool { return f.directories || f.noHost || f.cutDirs > 0 }

// validate returns an error if a value is out of range.
func (f *nameFlags) validate() error {
	if f.cutDirs < 0 {
		return fetch.Usage.Errorf("--cut-dirs requires a number of directories, not %d", f.cutDirs)
	}
	return nil
}

// of returns the file name for a URL. With directories, the name of a URL that
// ends in a slash is index.html, as in wget.
func (f *nameFlags) of(u uri.URI) (string, error) {
	if !f.Directories() {
		return f.segment(u.Path())
	}
	segments := strings.Split(strings.TrimPrefix(u.Path(), "/"), "/")
	last := len(segments) - 1
	if segments[last] == "" {
		segments[last] = "index.html"
	}
	dirs := segments[:last]
	var names []string
	if !f.noHost && u.Host() != "" {
		names = append(names, hostName(u))
	}
	cut := f.cutDirs
	for i, segment := range append(dirs[:last:last], segments[last]) {
		if segment == "" || i < last && cut > 0 {
			cut--
			continue
		}
		name, err := f.segment(segment)
		if err != nil {
			return "", err
		}
		names = append(names, name)
	}
	return filepath.Join(names...), nil
}

// hostName returns the name of the directory for the server of u. The port
// follows a "+", as in archives.
func hostName(u uri.URI) string {
	host := strings.Trim(u.Host(), "[]")
	if port, ok := u.Port(); ok && port != "" {
		host += "+" + port
	}
	name, err := save.Name("/" + uri.Escape(host, uri.Segment))
	if err != nil {
		return "host"
	}
	return name
}

// segment returns the file name for the last segment of a path. A verbatim name
// is the decoded segment, unless it could not be the name of a file here.
func (f *nameFlags) segment(path string) (string, error) {
	path = strings.TrimRight(path, "/")
	safe, err := save.Name(path)
	if !f.verbatim || err != nil || runtime.GOOS == "windows" {
		return safe, err
	}
	name, err := uri.Unescape(path[strings.LastIndexByte(path, '/')+1:])
	if err != nil || !isFileName(name) {
		return safe, nil
	}
	return name, nil
}

// maxVerbatim is the maximum length of a verbatim name in bytes. A partial file
// has a longer name.
const maxVerbatim = 240

// isFileName reports whether name can be used unchanged. It must be no path, have
// no characters that a terminal interprets, and not be the name of a partial
// file.
func isFileName(name string) bool {
	switch {
	case name == "", name == ".", name == "..", len(name) > maxVerbatim, !utf8.ValidString(name),
		strings.HasPrefix(name, ".") && (strings.HasSuffix(name, ".part") || strings.HasSuffix(name, ".state")):
		return false
	}
	return strings.IndexFunc(name, func(r rune) bool { return r == '/' || !unicode.IsPrint(r) }) < 0
}
