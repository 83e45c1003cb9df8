package uri

import (
	"iter"
	"strings"
)

// A Match is a URI found in a text.
type Match struct {
	// URI is the parsed URI. White space inserted by line breaks is removed,
	// and non-ASCII characters are percent-encoded.
	URI URI
	// Alternative is a second reading, or the zero URI. A line that ends in a
	// hyphen is ambiguous, because a typesetter may have inserted the hyphen.
	// Alternative is the URI without such hyphens.
	Alternative URI
	// Start and End are byte offsets. text[Start:End] is the URI as written,
	// without its wrapper but with its line breaks.
	Start, End int
}

const (
	maxMatch      = 64 << 10 // maximum length of a URI in the text, in bytes
	maxScheme     = 64       // maximum length of a scheme, in bytes
	maxWrapperGap = 64       // maximum distance between an opening wrapper and its URI, in bytes
)

// Extract returns an iterator over the URIs in running text, in order and
// without overlap. It follows RFC 3986 appendix C and recognizes three forms:
//
//   - A URI in angle brackets, "<…>" or "<URL:…>". White space inside is
//     removed. The brackets are ignored if they contain a blank line or a
//     second URI. After "URL:" any scheme is accepted.
//   - A URI in double quotes. Line breaks and the white space around them are
//     removed.
//   - A bare URI. It ends before the first character that a URI cannot contain.
//     Trailing punctuation and unbalanced closing parentheses are not included.
//
// Except after "URL:", Extract accepts only text that is very likely a URI: a
// URI with "//" and a host, and well-formed mailto, news, mid, cid, urn and
// file URIs. References without a scheme, such as "www.w3.org", are skipped.
// [Guess] parses those.
//
// Non-ASCII letters are part of a URI (RFC 3987). In a bare URI, letters of
// scripts written without spaces, such as Chinese, may not directly follow
// ASCII letters, because there a sentence continues without a space.
//
// Extract takes time linear in the length of text. It ignores URIs longer than
// 64 KiB.
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

// An extractor examines each colon in a text and decides whether the colon ends
// a scheme. The decision depends only on the text from maxScheme+maxWrapperGap
// bytes before the URI to maxMatch bytes after its start.
type extractor struct {
	text  string
	floor int // end of the last match; later matches start at or after it
	at    int // all colons before this offset have been examined
}

// next returns the next URI with its first colon before limit.
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

// matchAt returns the URI with a scheme that ends at colon.
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

// schemeStart returns the start of the scheme that ends at colon, or colon if
// there is no scheme. In "this.http:" only the part after the dot is the
// scheme, because a sentence ended there.
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

// wrapperOpening returns the wrapper that opens before text[start]: '<', '"' or
// 0. It also reports whether "URL:" or, as in RFC 1630, "URI:" precedes
// text[start].
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

// isPlausible reports whether u is very likely meant as a URI. Words such as
// "note:this" and "std::vector" match the URI grammar but are not plausible
// URIs.
func isPlausible(u URI) bool {
	path := u.Path()
	switch u.Scheme() {
	case "file":
		return len(path) > 1 && path[0] == '/'
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
