package render

import (
	"strings"

	"github.com/anyurl/fetch/internal/base/lazy"
	"github.com/anyurl/fetch/uri"
)

// A span is a part of the text of a message. Path is "" if the span is not a
// link. A quoted span repeats lines of an earlier message, marked with ">".
type span struct {
	Text, Path string
	Quoted     bool
}

// writtenURL matches a URL in a text. It ends before white space and before
// characters that usually do not belong to the URL.
var writtenURL = lazy.Regexp(`\b(?:[a-z][a-z0-9+.-]{2,12}://|news:|mid:)[^\s<>"{}|\\^` + "`" + `\x{80}-\x{10ffff}]+`)

// maxSpanLinks limits the links in the text of a message.
const maxSpanLinks = 1000

// spans divides the text of a message into quoted lines, links and other text.
func (v *View) spans(text string) (all []span) {
	links := 0
	var plain strings.Builder
	flush := func(quoted bool) {
		if plain.Len() > 0 {
			all = append(all, span{Text: plain.String(), Quoted: quoted})
			plain.Reset()
		}
	}
	before := false // the previous line was quoted
	for line := range strings.Lines(text) {
		quoted := strings.HasPrefix(line, ">")
		if quoted != before {
			flush(before)
		}
		before = quoted
		for links < maxSpanLinks && !quoted {
			at := writtenURL().FindStringIndex(line)
			if at == nil {
				break
			}
			found := strings.TrimRight(line[at[0]:at[1]], ".,;:!?)'*_")
			plain.WriteString(line[:at[0]])
			if path := v.linkOf(found); path != "" {
				flush(false)
				all = append(all, span{Text: found, Path: path})
				links++
			} else {
				plain.WriteString(found)
			}
			line = line[at[0]+len(found):]
		}
		plain.WriteString(line)
	}
	flush(before)
	return all
}

// linkOf parses text as a URL and returns the link to the page that shows it,
// or "" if there is no such page.
func (v *View) linkOf(text string) string {
	u, err := uri.Parse(text)
	if err != nil || u.Scheme() == "" || scripting().MatchString(u.Scheme()) {
		return ""
	}
	return v.Links.Page(u.WithoutUserinfo())
}
