package uri

import (
	"iter"
	"strings"
)

// A Match is a URI found in a text.
type Match struct {
	// URI is the parsed URI. White space inside it has been removed, and
	// non-ASCII characters have been percent-encoded.
	URI URI
	// Alternative is a second interpretation of the text, or the zero URI. If a
	// line inside the URI ends in a hyphen, a typesetter may have inserted the
	// hyphen. URI keeps the hyphen, and Alternative omits it.
	Alternative URI
	// Start and End are the byte offsets at which the URI starts and ends in
	// the text. They exclude the surrounding brackets or quotes.
	Start, End int
}

const (
	maxMatch      = 64 << 10 // maximum length of a URI in the text, in bytes
	maxScheme     = 64       // maximum length of a scheme, in bytes
	maxWrapperGap = 64       // maximum distance between an opening wrapper and its URI, in bytes
)

// Extract returns an iterator over the URIs in running text, such as an email or
// a manual page. It follows RFC 3986 appendix C and recognizes three forms:
//
//   - A URI in angle brackets, "<…>" or "<URL:…>". White space inside the
//     brackets is removed. The brackets are ignored if they contain a blank
//     line or a second URI. After "URL:" any scheme is accepted.
//   - A URI in double quotes. Line breaks and the white space around them are
//     removed.
//   - A URI without brackets or quotes. It ends before the first character
//     that a URI cannot contain. Trailing punctuation and unbalanced closing
//     parentheses are not included.
//
// Except after "URL:", Extract accepts only text that is very likely a URI. It
// accepts URIs with "//" and a host, and well-formed mailto, news, mid, cid, urn
// and file URIs. It skips references without a scheme, such as "www.w3.org".
// [Guess] parses such references.
//
// Non-ASCII letters are part of a URI (RFC 3987). However, some scripts, such as
// Chinese, are written without spaces. In a URI without brackets or quotes, a
// letter of such a script may not directly follow an ASCII letter. Such a letter
// may belong to the sentence.
//
// The matches are in order and do not overlap. Extract takes time linear in the
// length of text. It ignores URIs longer than 64 KiB.
func Extract(text string) iter.Seq[Match] {
	return func(yield func(Match) bool) {
		x := extractor{text: text}
		for {
			f, ok := x.next(len(text))
			if !ok || !yield(f) {
				return
			}
		}
	}
}

// An extractor finds URIs in a text. It examines each colon and decides whether
// the colon ends a scheme. The decision depends only on the text from
// maxScheme+maxWrapperGap bytes before the URI to maxMatch bytes after its
// start.
type extractor struct {
	text  string
	floor int // end of the last match; later matches start at or after it
	at    int // all colons before this offset have been examined
}

// next returns the next URI in the text. It examines only colons before limit.
func (x *extractor) next(limit int) (Match, bool) {
	for x.at < limit {
		n := strings.IndexByte(x.text[x.at:limit], ':')
		if n < 0 {
			x.at = limit
			break
		}
		colon := x.at + n
		x.at = colon + 1
		if f, ok := x.matchAt(colon); ok {
			return f, true
		}
	}
	return Match{}, false
}

// matchAt returns the URI whose scheme ends at x.text[colon], if any.
func (x *extractor) matchAt(colon int) (Match, bool) {
	start := x.schemeStart(colon)
	if start == colon {
		return Match{}, false
	}
	text := x.text[:min(len(x.text), start+maxMatch)]
	if open, labelled := x.wrapperOpening(start); open != 0 {
		if f, end, ok := parseWrapped(text, start, colon, open, labelled); ok {
			x.floor, x.at = end, end
			return f, true
		}
	}
	if colon-start < 2 {
		return Match{}, false // probably a drive letter
	}
	before := byte(' ')
	if start > x.floor {
		before = text[start-1]
	}
	if before == '\'' {
		if n := strings.IndexByte(text[colon:], '\''); n >= 0 {
			text = text[:colon+n]
		}
	}
	path, end := bareURI(text, start, colon)
	switch {
	case end < 0:
		return Match{}, false
	case end == start+maxMatch && end < len(x.text):
		x.floor, x.at = end, end // too long, and so are all URIs inside it
		return Match{}, false
	}
	end = trimPunctuation(text, path, end, before)
	u, err := Parse(EscapeNonASCII(text[start:end]))
	if err != nil || !isPlausible(u) {
		return Match{}, false
	}
	x.floor, x.at = end, end
	return Match{URI: u, Start: start, End: end}, true
}

// schemeStart returns the start of the scheme that ends at x.text[colon]. It
// returns colon if there is no scheme. In "sentence.http://host", the scheme
// starts after the dot.
func (x *extractor) schemeStart(colon int) int {
	floor := max(x.floor, colon-maxScheme)
	i := colon
	for i > floor && schemeChars.Has(x.text[i-1]) {
		i--
	}
	if i > x.floor && schemeChars.Has(x.text[i-1]) {
		return colon // too long
	}
	for i < colon && !alpha.Has(x.text[i]) {
		i++
	}
	name := x.text[i:colon]
	if dot := strings.LastIndexByte(name, '.'); isCommonScheme(name[dot+1:]) {
		return i + dot + 1
	}
	return i
}

// wrapperOpening returns the '<' or '"' before the URI that starts at
// x.text[start], or 0. It also reports whether the label "URL:" or "URI:" (RFC
// 1630) precedes the URI.
func (x *extractor) wrapperOpening(start int) (open byte, labelled bool) {
	lead := x.text[max(x.floor, start-maxWrapperGap):start]
	before, labelled := cutLabel(lead)
	if strings.HasSuffix(before, "<") {
		return '<', labelled
	}
	if strings.HasSuffix(lead, `"`) {
		return '"', false
	}
	return 0, false
}

// isPlausible reports whether the author of the text very likely meant u as a
// URI. Text such as "note:this" and "std::vector" also matches the URI grammar.
func isPlausible(u URI) bool {
	path := u.Path()
	switch u.Scheme() {
	case "file":
		return len(path) > 1 && path[0] == '/' || path == "/" && u.auth // file:/// is the root directory
	case "mailto", "mid", "cid":
		at := strings.IndexByte(path, '@')
		return !u.auth && at > 0 && at < len(path)-1
	case "news":
		if u.auth {
			break
		}
		mark := strings.IndexAny(path, ".@")
		return path == "*" || mark > 0 && mark < len(path)-1
	case "urn":
		name, rest, _ := strings.Cut(path, ":")
		return !u.auth && name != "" && rest != ""
	}
	return u.kind != NoHost && strings.ContainsFunc(u.Host(), func(r rune) bool {
		return r == '%' || (alpha | digit).Has(byte(r))
	})
}
