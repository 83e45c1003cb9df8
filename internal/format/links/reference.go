package links

import (
	"bufio"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/uri/iri"
)

// maxReference is the maximum length in bytes of a reference in a document.
const maxReference = 64 << 10

// A walk finds the links of one document. It holds the state of [Extract] or
// [Rewrite].
type walk struct {
	scheme       func(name string) fetch.Scheme
	base         uri.URI
	stated       bool              // base was set by a base element
	nofollow     bool              // a robots directive applies to all further links
	relNofollow  bool              // the current element has the link relation nofollow
	charset      encoding.Encoding // stated charset of the document, or nil for UTF-8
	raw          bool              // tokens have the charset of the document; otherwise they are in UTF-8
	visit        func(Link) (to string, more bool)
	stopped      bool          // visit has returned false
	kept         bool          // visit has kept the target of the last reference
	out          io.Writer     // the output, or nil
	markup       io.Writer     // receives a copy of the decoded markup, or nil
	element      element       // current start tag
	piece        *bufio.Reader // buffer for CSS inside the document
	tokenLimit   int           // maximum size of a token in bytes, or 0 for maxToken
	nesting      int           // number of documents that contain this one
	inflateLimit int64         // maximum size of a decompressed document in bytes, or 0 for maxInflated
}

// visitReference resolves a reference and passes the link to Extract or
// Rewrite. It returns the replacement of the reference, or "" to keep the
// reference.
func (w *walk) visitReference(text string, kind Kind, from string) string {
	return w.visitFrom(w.base, text, Link{Kind: kind, From: from, NoFollow: w.nofollow || w.relNofollow})
}

func (w *walk) visitFrom(base uri.URI, text string, l Link) string {
	ref, ok := w.parseReference(base, text)
	if !ok || w.stopped {
		return ""
	}
	switch text := ref.Unredacted(); {
	case text == "" && (!w.stated || l.Kind != Page): // an empty src or action does not name the base URL
		return ""
	case text != "" && text[0] == '#' && !w.stated:
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
	if l.URL.Host() == "" && w.scheme(l.URL.Scheme()).NeedsHost() {
		return ""
	}
	l.PageNoFollow = w.nofollow
	to, more := w.visit(l)
	w.stopped = !more
	if w.kept = to == ""; w.kept && w.stated && w.out != nil && ref.Scheme() == "" {
		to = l.URL.Unredacted()
	}
	if fragment, ok := ref.Fragment(); ok && to != "" {
		to += "#" + fragment
	}
	return to
}

// isMisread reports whether a browser may read a URL in a reference that
// visitReference has ignored. For example, a browser reads https:x as https://x.
func (w *walk) isMisread(text string) bool {
	text = strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(strings.TrimFunc(text, func(r rune) bool { return r <= ' ' }))
	if w.isInert(schemeOf(text)) {
		return false
	}
	ref, ok := w.parseReference(w.base, text)
	if !ok {
		return true
	}
	u, err := w.base.Resolve(ref)
	return err != nil || u.Host() == "" && w.scheme(u.Scheme()).NeedsHost()
}

// parseReference parses a reference by the rules of browsers. It removes
// surrounding white space and all line breaks. It percent-encodes characters
// that a URI cannot contain. In URLs of schemes such as http, it converts
// backslashes in the path to slashes, and encodes the query in w.charset.
func (w *walk) parseReference(base uri.URI, text string) (ref uri.URI, ok bool) {
	text = strings.TrimFunc(text, func(r rune) bool { return r <= ' ' })
	scheme := schemeOf(text)
	if len(text) > maxReference || w.isInert(scheme) {
		return ref, false
	}
	ref, err := uri.ParseReference(text)
	if err == nil {
		return ref, true
	}
	if strings.ContainsAny(text, "\t\r\n") {
		text = strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(text)
		if scheme = schemeOf(text); w.isInert(scheme) {
			return ref, false
		}
	}
	if scheme == "" {
		scheme = base.Scheme()
	}
	slashes := w.scheme(scheme).Traits.Backslash
	if w.charset != nil && slashes {
		text = encodeQuery(text, w.charset)
	}
	// In multi-byte encodings such as Shift_JIS, a backslash may be the second
	// byte of a letter. Therefore backslashes are converted only in UTF-8.
	ref, err = iri.ParseReference(repairReference(text, slashes && utf8.ValidString(text)))
	return ref, err == nil
}

// schemeOf returns the scheme of a reference in lower case, or "" if the
// reference has no scheme.
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

// isInert reports whether URLs with the given scheme are not links, because they
// contain the object or cannot be fetched.
func (w *walk) isInert(scheme string) bool {
	return scheme != "" && (isPseudoScheme(scheme) || w.scheme(scheme).Traits.Embedded)
}

// isPseudoScheme reports whether URLs with the given scheme, such as javascript,
// have a meaning only for browsers.
func isPseudoScheme(scheme string) bool {
	switch scheme {
	case "javascript", "vbscript", "livescript", "about", "blob", "chrome", "view-source", "android-app", "ios-app":
		return true
	}
	return false
}

// repairReference percent-encodes the invalid characters in the path, query and
// fragment of a reference. It does not change the authority, because the result
// could name a different host.
func repairReference(text string, slashes bool) string {
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
