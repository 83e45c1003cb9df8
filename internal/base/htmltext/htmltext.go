// Package htmltext renders an HTML page as plain text, for reading in a line-mode
// browser. It renders headings, paragraphs, lists, links, preformatted text, and
// tables row by row. It ignores style sheets, scripts and forms.
//
// The memory and the time are proportional to the size of the page. The text can
// contain control characters from the page, so it must be escaped before it is
// written to a terminal.
package htmltext

import (
	"io"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// Options configures [Render]. The zero value is valid.
type Options struct {
	// Width is the length of a line in columns, or 0 for 80. A longer word is on
	// a separate line.
	Width int

	// Link is called for each link, in the order of the page. ref is the URI
	// reference as it is in the page, and text is the text of the link, which
	// may be empty. Link returns the number of the link, which Render writes
	// after the text, as in "text[3]". It returns 0 if the link has no number.
	// If Link is nil, no link has a number.
	Link func(ref, text string) int

	// MaxText limits the size of the rendered text in bytes. If it is zero, the
	// limit is 8 MiB.
	MaxText int
}

// A Text is a rendered page.
type Text struct {
	Title string // content of the title element; white space is collapsed
	Body  string // lines, each ending in LF; "" if the page has no text

	// Truncated reports whether the page exceeded a limit, so that the end of
	// the page is missing.
	Truncated bool
}

const (
	defaultWidth   = 80
	defaultMaxText = 8 << 20
	maxToken       = 1 << 20 // limit for a tag, or a text without tags, in bytes
	maxTitle       = 500     // limit for the title and the text of a link, in bytes
	maxDepth       = 64      // limit for nested lists and quotations; deeper ones are not indented
)

// Render reads an HTML page in UTF-8 from r and renders it as text. It accepts
// malformed pages. It returns an error only if reading from r fails. The Text
// then has the part of the page before the error.
func Render(r io.Reader, o Options) (Text, error) {
	if o.Width <= 0 {
		o.Width = defaultWidth
	}
	if o.MaxText <= 0 {
		o.MaxText = defaultMaxText
	}
	z := html.NewTokenizer(r)
	z.SetMaxBuf(maxToken)
	p := &renderer{o: o, z: z, lines: lineWriter{width: o.Width, limit: o.MaxText}}
	err := p.run()
	p.endLink()
	p.lines.finish()
	text := Text{Title: p.title.String(), Body: p.lines.String(), Truncated: p.truncated}
	if err == io.EOF {
		err = nil
	}
	return text, err
}

// run renders all tokens. It returns the error that ended the page, or nil if the
// page exceeds a limit.
func (p *renderer) run() error {
	for {
		kind := p.z.Next()
		switch kind {
		case html.ErrorToken:
			err := p.z.Err()
			if err == html.ErrBufferExceeded {
				p.truncated = true
				return nil
			}
			return err
		case html.TextToken:
			p.text(string(p.z.Text()))
		case html.StartTagToken, html.SelfClosingTagToken:
			t := startTag(p.z, kind)
			p.start(&t)
		case html.EndTagToken:
			name, _ := p.z.TagName()
			p.end(string(name))
		}
		if p.lines.Len() > p.o.MaxText {
			p.truncated = true
			return nil
		}
	}
}

// startTag returns the current start tag with the attributes that a renderer
// uses. A tag can have more than 100,000 attributes, each of which would take
// many times its size.
func startTag(z *html.Tokenizer, kind html.TokenType) html.Token {
	name, more := z.TagName()
	t := html.Token{Type: kind, Data: string(name)}
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch string(key) {
		case "href", "src", "alt", "name":
			if !slices.ContainsFunc(t.Attr, func(a html.Attribute) bool { return a.Key == string(key) }) {
				t.Attr = append(t.Attr, html.Attribute{Key: string(key), Val: string(value)})
			}
		}
	}
	return t
}

// collapsed is a text of limited size in which white space is collapsed.
type collapsed struct{ strings.Builder }

func (c *collapsed) add(text string) {
	for word := range strings.FieldsSeq(text) {
		if c.Len()+len(word) > maxTitle {
			return
		}
		if c.Len() > 0 {
			c.WriteByte(' ')
		}
		c.WriteString(word)
	}
}
