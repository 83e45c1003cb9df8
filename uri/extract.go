package uri

import (
	"iter"
	"strings"
)

// A Found is a URI that stands in a text.
type Found struct {
	// URI is what is meant: without the white space by which a wrapper may
	// break it, and with characters outside ASCII percent-encoded.
	URI URI
	// Or is the other reading where a line ends in a hyphen: the one without
	// the hyphens at line ends, which a typesetter may have put there. The zero
	// URI says that there is only one reading.
	Or URI
	// Start and End tell where it is written, its wrapper left out:
	// text[Start:End] is the URI with all that broke it.
	Start, End int
}

const (
	maxFound  = 64 << 10 // bytes in the text that are looked at for one URI
	maxScheme = 64       // bytes of a scheme in a text
	maxLead   = 64       // bytes before a URI in which its wrapper may open
)

// Extract finds the URIs in running text, in order and without overlap, by the
// rules of RFC 3986 appendix C and its ancestors:
//
//   - in angle brackets, "<…>" or "<URL:…>": all white space is taken out, but a
//     blank line or a second URI shows that the bracket is none of theirs. After
//     "URL:" any scheme will do;
//   - in double quotes: line breaks are taken out, with the space around them;
//   - bare: up to what no URI holds, less the punctuation that ends it and a
//     closing parenthesis that was not opened in it.
//
// Elsewhere than after "URL:" only what is most likely a URI counts: one with "//"
// and a host, and mailto, news, mid, cid, urn and file by their forms. References
// without a scheme ("www.w3.org") are not taken: [Guess] is for those.
//
// Letters outside ASCII count as part of a URI (RFC 3987), except that bare ones
// of a script written without spaces do not follow ASCII letters directly: in
// Chinese the sentence goes on right behind the URI.
//
// It takes time linear in the length of text. What is longer than 64 KiB is no
// URI.
func Extract(text string) iter.Seq[Found] {
	return func(yield func(Found) bool) {
		x := extractor{text: text}
		for {
			f, ok := x.next(len(text))
			if !ok || !yield(f) {
				return
			}
		}
	}
}

// An extractor goes from colon to colon and asks of each whether it ends a scheme.
// What it decides depends only on the text from maxScheme+maxLead before the start
// of a URI to maxFound after it.
type extractor struct {
	text  string
	floor int // the end of what was found last: nothing reaches back over it
	at    int // colons before it have been judged
}

// next returns the next URI whose colon stands before limit.
func (x *extractor) next(limit int) (Found, bool) {
	for x.at < limit {
		n := strings.IndexByte(x.text[x.at:limit], ':')
		if n < 0 {
			x.at = limit
			break
		}
		colon := x.at + n
		x.at = colon + 1
		if f, ok := x.find(colon); ok {
			return f, true
		}
	}
	return Found{}, false
}

// find returns the URI whose scheme ends at colon.
func (x *extractor) find(colon int) (Found, bool) {
	start := x.schemeStart(colon)
	if start == colon {
		return Found{}, false
	}
	text := x.text[:min(len(x.text), start+maxFound)]
	if open, labelled := x.opening(start); open != 0 {
		if f, end, ok := wrapped(text, start, colon, open, labelled); ok {
			x.floor, x.at = end, end
			return f, true
		}
	}
	if colon-start < 2 {
		return Found{}, false // more likely the letter of a drive
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
	path, end := bare(text, start, colon)
	switch {
	case end < 0:
		return Found{}, false
	case end == start+maxFound && end < len(x.text):
		x.floor, x.at = end, end // too long: so is every one within it
		return Found{}, false
	}
	end = sentence(text, path, end, before)
	u, err := Parse(EscapeNonASCII(text[start:end]))
	if err != nil || !likely(u) {
		return Found{}, false
	}
	x.floor, x.at = end, end
	return Found{URI: u, Start: start, End: end}, true
}

// schemeStart returns where the scheme begins that ends at colon, or colon. Of
// "this.http" it takes the last part: a sentence ended there.
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
	if dot := strings.LastIndexByte(name, '.'); known(name[dot+1:]) {
		return i + dot + 1
	}
	return i
}

// opening returns what opens before text[start], '<' or '"' or 0, and whether
// "URL:" stands between. RFC 1630 has "URI:" in its place.
func (x *extractor) opening(start int) (open byte, labelled bool) {
	lead := x.text[max(x.floor, start-maxLead):start]
	before, labelled := cutLabel(lead)
	if strings.HasSuffix(before, "<") {
		return '<', labelled
	}
	if strings.HasSuffix(lead, `"`) {
		return '"', false
	}
	return 0, false
}

// likely reports whether u, which somebody wrote in a text, was meant as a URI:
// "note:this" and "std::vector" are URIs by the grammar.
func likely(u URI) bool {
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
