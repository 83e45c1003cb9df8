// Package arguments parses the URLs on the command line and in input files, and
// expands their globs.
package arguments

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/glob"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// An Argument is a URL to retrieve. The URL comes from the command line, or
// from a file such as the argument of --input-file.
type Argument struct {
	Text  string
	URL   uri.URI // the parsed URL, or zero if text must be parsed
	Line  int     // line number in the input file, or 0
	Index int     // position among all arguments and input lines, which selects the -o flag
	Typed bool    // if true, the URL comes from the command line

	Pattern *glob.Pattern // globs in text, or nil
	Values  []string      // values of the globs, for names such as #1
	Quiet   bool          // print no notes, because the first URL of the glob has printed them
	Number  int           // number of URLs before this one, in the order of retrieval

	Request func() *fetch.Request // creates the request for url; set only if a directory listing contained url
	Err     error                 // if not nil, the URL cannot be retrieved
}

// Options control how arguments are parsed.
type Options struct {
	Configured    []string // more URLs, from the files of -K
	InputFile     string   // name of a file with more URLs, or ""
	DefaultScheme string   // scheme of URLs without a scheme, or ""
	GlobOff       bool     // if true, glob characters are literal
}

// Parse converts the URLs on the command line and the configured URLs to
// arguments. It returns an error for a word that is neither a URL nor a file.
// Such a word is looked up in DNS only if there is no other URL and no input
// file.
func Parse(s *console.Streams, typed []string, o Options) (all []Argument, _ error) {
	alone := len(typed)+len(o.Configured) == 1 && o.InputFile == ""
	for i, text := range typed {
		a := Argument{Text: text, Index: i, Typed: true}
		if err := a.resolve(alone, o); err != nil {
			return nil, err
		}
		if !a.URL.IsZero() {
			s.Note("the URL is taken for %s", a.URL)
		}
		all = append(all, a)
	}
	for _, text := range o.Configured {
		all = append(all, Argument{Text: text, Index: len(all)})
	}
	return all, nil
}

// resolve sets a.url if the text names a local file, and a.pattern if it has
// globs. The parameter alone is true if there is no other argument.
func (a *Argument) resolve(alone bool, o Options) (err error) {
	if isLocal(a.Text) {
		a.URL, err = fileURL(a.Text)
		return err
	}
	text := a.Text
	if !o.GlobOff {
		p, err := glob.Parse(text)
		if err != nil {
			return fetch.Usage.Errorf("%w (-g turns globs off)", err)
		}
		if text, _ = p.Expansion(0); p.Globs() > 0 {
			a.Pattern = p
		} else {
			a.Text = text // with the backslashes of escapes removed
		}
	}
	if hasFileExtension(text) || isWord(text) && !alone {
		return fetch.Usage.Errorf("%q is neither a URL nor a file; if it is a host: %s", text,
			hostURL(text, o.DefaultScheme))
	}
	return nil
}

// expansion returns a copy of a with the i-th URL of its glob, starting at 0.
func (a Argument) expansion(i int64) Argument {
	a.Text, a.Values = a.Pattern.Expansion(i)
	a.Quiet = i > 0
	return a
}

// isLocal reports whether text names a local file or directory. An absolute path
// does, and so does text that begins with "./" or "../". Other names must exist.
//
// Directories are often named after hosts. Therefore the first part of another
// name must not be the directory of a mirror or localhost. A part with a dot
// must be the name of a regular file. The WARC files of a mirror are local too.
func isLocal(text string) bool {
	first, _, slash := strings.Cut(filepath.ToSlash(text), "/")
	switch {
	case first == "." || first == "..":
		return true
	case filepath.IsAbs(text):
		return !strings.HasPrefix(text, "//")
	case first == "" || strings.Contains(first, ":"):
		return false
	case strings.EqualFold(first, "localhost") || slash && strings.Contains(first, "."):
		return false
	}
	info, err := os.Stat(text)
	if err != nil || info.IsDir() && strings.Contains(first, ".") {
		return false
	}
	_, err = os.Stat(filepath.Join(first, "fetch.db"))
	return err != nil || HasArchiveSuffix(text)
}

// HasArchiveSuffix reports whether name has the extension of a WARC or WACZ
// file.
func HasArchiveSuffix(name string) bool {
	return warc.IsFileName(name) || strings.HasSuffix(name, ".wacz")
}

// IsNewWARC reports whether name has the extension of a WARC file that the
// command can write: .warc, .warc.gz or .warc.zst.
func IsNewWARC(name string) bool {
	stem := strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	return strings.HasSuffix(stem, ".warc") && warc.IsFileName(name)
}

// fileExtensions are common file extensions that are not top-level domains.
var fileExtensions = []string{".bz2", ".csv", ".gif", ".gz", ".htm", ".html", ".iso", ".jpg", ".json", ".jsonl", ".log",
	".pdf", ".png", ".tar", ".tgz", ".txt", ".xml", ".xz"}

// hasFileExtension reports whether text is a file name such as "list.txt". Such
// a name is not a host.
func hasFileExtension(text string) bool {
	known := slices.Contains(fileExtensions, strings.ToLower(filepath.Ext(text))) || HasArchiveSuffix(text)
	return known && !strings.ContainsAny(text, ":/?#[{")
}

// fileURL returns the file URL of a local path. The URL has a final slash if the
// path has one.
func fileURL(path string) (uri.URI, error) {
	name, err := filepath.Abs(path)
	if err != nil {
		return uri.URI{}, fetch.Local.With(err)
	}
	name = filepath.ToSlash(name)
	if !strings.HasPrefix(name, "/") {
		name = "/" + name // a drive letter
	}
	last := filepath.Base(filepath.ToSlash(path))
	if os.IsPathSeparator(path[len(path)-1]) || last == "." || last == ".." {
		name = strings.TrimSuffix(name, "/") + "/"
	}
	u, err := uri.Parse("file://" + uri.Escape(name, uri.Path))
	if err != nil {
		return u, fetch.BadURL.With(err)
	}
	return u, nil
}

// isWord reports whether text starts with a name that has neither a dot nor a
// port, such as a misspelled command. The host localhost is not a word.
func isWord(text string) bool {
	host := hostPart(text)
	return host != "" && !strings.ContainsAny(host, ".:@[{<\"") && !strings.EqualFold(host, "localhost")
}

// hostPart returns the part of text before the first slash, question mark or
// number sign.
func hostPart(text string) string {
	if n := strings.IndexAny(text, "/?#"); n >= 0 {
		return text[:n]
	}
	return text
}

// hostURL returns text as a URL with a scheme, for a message.
func hostURL(text, scheme string) string {
	if scheme == "" {
		scheme = "http"
	}
	if hostPart(text) == text {
		text += "/"
	}
	return scheme + "://" + text
}

// A word is suspected to be a misspelled command only if it has at least
// minWord letters, or minLoneWord letters if it is the only argument. A shorter
// word is more likely a host.
const (
	minWord     = 3
	minLoneWord = 5
)

// CheckCommand returns an error if the first argument is a misspelled command.
// The function suggest returns the commands that are similar to a word.
func CheckCommand(args []string, suggest func(string) []string, defaultScheme string) error {
	if len(args) == 0 || len(args[0]) < minWord || !isWord(args[0]) || isLocal(args[0]) {
		return nil
	}
	word := args[0]
	similar := suggest(word)
	if len(args) == 1 {
		if len(word) < minLoneWord || strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) {
			return nil
		}
		similar = slices.DeleteFunc(similar, func(name string) bool { return len(name) > len(word)+1 })
	}
	if len(similar) == 0 {
		return nil
	}
	return fetch.Usage.Errorf("there is no command %q: did you mean %s? If it is a host: %s", word,
		strings.Join(similar, " or "), hostURL(word, defaultScheme))
}
