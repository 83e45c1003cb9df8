package links

import (
	"bufio"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/uri/iri"
)

// maxReference is how long a reference may be.
const maxReference = 64 << 10

// A walk goes through one document.
type walk struct {
	base     uri.URI
	stated   bool // by a base element
	nofollow bool // every link from here on
	visit    func(Link) (to string, more bool)
	stopped  bool          // visit wants no more
	out      io.Writer     // nil: nothing is written
	element  element       // the start tag that is read
	piece    *bufio.Reader // of the CSS that is read within it
	limit    int           // bytes of a token; 0: maxToken
	most     int64         // bytes of a sitemap of gzip; 0: maxInflated
}

// reference visits one reference and returns what is to stand there instead,
// or "".
func (w *walk) reference(text string, kind Kind, from string) string {
	return w.visitFrom(w.base, text, Link{Kind: kind, From: from, NoFollow: w.nofollow})
}

func (w *walk) visitFrom(base uri.URI, text string, l Link) string {
	ref, ok := read(base, text)
	if !ok || w.stopped {
		return ""
	}
	if text := ref.Unredacted(); text == "" || text[0] == '#' && !w.stated {
		return ""
	}
	u, err := base.Resolve(ref)
	if err != nil {
		return ""
	}
	if strings.Contains(u.Host(), "%") {
		if ascii, err := iri.ToASCII(u); err == nil {
			u = ascii
		}
	}
	l.URL = u.WithoutFragment()
	if _, ok := u.Userinfo(); ok {
		l.URL = l.URL.WithoutUserinfo()
	}
	if l.URL.Host() == "" && needsHost(l.URL.Scheme()) {
		return ""
	}
	to, more := w.visit(l)
	w.stopped = !more
	if to == "" && w.stated && w.out != nil && ref.Scheme() == "" {
		to = l.URL.Unredacted()
	}
	if fragment, ok := ref.Fragment(); ok && to != "" {
		to += "#" + fragment
	}
	return to
}

// read reads a reference as browsers do: space around it and line breaks in it
// are gone, what no URI holds is percent-encoded as it stands, and in a path of
// the web a backslash is a slash.
func read(base uri.URI, text string) (ref uri.URI, ok bool) {
	text = strings.TrimFunc(text, func(r rune) bool { return r <= ' ' })
	scheme := schemeOf(text)
	if len(text) > maxReference || inert(scheme) {
		return ref, false
	}
	ref, err := uri.ParseReference(text)
	if err == nil {
		return ref, true
	}
	if strings.ContainsAny(text, "\t\r\n") {
		text = strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(text)
		if scheme = schemeOf(text); inert(scheme) {
			return ref, false
		}
	}
	if scheme == "" {
		scheme = base.Scheme()
	}
	// In Shift_JIS and its like a backslash is half a letter.
	ref, err = iri.ParseReference(repair(text, slashes(scheme) && utf8.ValidString(text)))
	return ref, err == nil
}

// schemeOf is the scheme that text begins with, in lower case, or "".
func schemeOf(text string) string {
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return strings.ToLower(text[:i])
		default:
			return ""
		}
	}
	return ""
}

// inert reports whether a URL of that scheme leads nowhere.
func inert(scheme string) bool {
	switch scheme {
	case "javascript", "vbscript", "livescript", "data", "about", "blob", "chrome", "view-source", "android-app", "ios-app":
		return true
	}
	return false
}

// slashes reports whether a backslash is a slash in URLs of that scheme.
func slashes(scheme string) bool {
	switch scheme {
	case "http", "https", "ftp", "ftps", "file":
		return true
	}
	return false
}

// needsHost reports whether a URL of that scheme without a host is none.
func needsHost(scheme string) bool {
	switch scheme {
	case "http", "https", "ftp", "ftps", "gopher", "gophers", "nntp", "nntps", "wais", "telnet", "prospero":
		return true
	}
	return false
}

// repair encodes what does not belong in path, query and fragment. The
// authority stays as it is: a host is not to be guessed.
func repair(text string, slashes bool) string {
	at := 0
	if scheme := schemeOf(text); scheme != "" {
		at = len(scheme) + 1
	}
	out := append(make([]byte, 0, len(text)+32), text[:at]...)
	slash := func(c byte) bool { return c == '/' || slashes && c == '\\' }
	if at+1 < len(text) && slash(text[at]) && slash(text[at+1]) {
		out = append(out, "//"...)
		for at += 2; at < len(text) && !slash(text[at]) && text[at] != '?' && text[at] != '#'; at++ {
			out = append(out, text[at])
		}
	}
	keep, mark := uri.Path, byte('?')
	for ; at < len(text); at++ {
		switch c := text[at]; {
		case c == '\\' && slashes && keep == uri.Path && mark == '?':
			out = append(out, '/')
		case c == '#' && mark != 0:
			keep, mark = uri.FragmentChars, 0
			out = append(out, c)
		case c == '?' && mark == '?':
			keep, mark = uri.QueryChars, '#'
			out = append(out, c)
		case keep.Has(c), c == '%' && at+2 < len(text) && isHex(text[at+1]) && isHex(text[at+2]):
			out = append(out, c)
		default:
			out = uri.AppendEscape(out, text[at:at+1], 0)
		}
	}
	return string(out)
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }
