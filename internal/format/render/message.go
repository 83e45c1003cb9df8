package render

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"iter"
	"mime"
	"path"
	"strings"

	"github.com/anyurl/fetch/internal/base/htmltext"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/format/rfc822"
	"github.com/anyurl/fetch/uri"
)

type messagePage struct {
	Page
	Fields  []field
	Parts   []messagePart
	Problem string
	About   *about
}

type field struct {
	Name, Value string
	Links       []Link
}

type messagePart struct {
	Title, Media, Path, Note string
	Text                     []span
	Inline, Image            bool
}

// Limits of a page that shows a message. The bytes of all parts remain
// available under their own URLs.
const (
	maxShownParts = 100
	maxShownText  = 1 << 20 // bytes of text of all parts
)

// shownFields lists the header fields that a page shows. The subject is its title.
var shownFields = []string{
	"From", "To", "Cc", "Newsgroups", "Date", "Organization", "Followup-To", "Message-ID", "In-Reply-To",
	"References",
}

// message writes a message with its header fields and its parts.
func (v *View) message(ctx context.Context, w io.Writer) error {
	head, rest := rfc822.ReadHeader(v.Response.Body)
	header := rfc822.ParseHeader(head)
	data := messagePage{Page: v.Page}
	data.SetTitle(cmp.Or(rfc822.DecodeWords(header.Get("Subject")), v.Page.Title))
	for _, name := range shownFields {
		if value := header.Get(name); value != "" {
			data.Fields = append(data.Fields, v.field(name, value))
		}
	}
	left, hasText := int64(maxShownText), false
	for p, err := range rfc822.Parts(io.MultiReader(bytes.NewReader(head), rest)) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			data.Problem = "The message is incomplete. " + v.Problem(err)
			break
		}
		if len(data.Parts) == maxShownParts {
			data.Problem = "The page shows only the first parts of the message."
			break
		}
		part := v.messagePart(p, &left, hasText)
		hasText = hasText || part.Inline
		data.Parts = append(data.Parts, part)
	}
	data.About = v.about(data.Problem == "")
	return execute(w, "article", data)
}

// field returns a header field for display. It turns newsgroups and the
// identifiers of other messages into links.
func (v *View) field(name, value string) field {
	f := field{Name: name, Value: tty.Escape(rfc822.DecodeWords(value))}
	isNews := v.Scheme.Traits.Message != nil
	var parts iter.Seq[string]
	switch {
	case name == "References" || name == "In-Reply-To":
		parts = strings.FieldsSeq(value)
	case isNews && (name == "Newsgroups" || name == "Followup-To"):
		parts = strings.FieldsFuncSeq(value, func(r rune) bool { return r == ',' || r == ' ' })
	default:
		return f
	}
	f.Value = ""
	for part := range parts {
		if len(f.Links) == maxShownParts {
			break
		}
		l := Link{Name: tty.Escape(part)}
		u, err := v.messageURL(strings.Trim(part, "<>"))
		if err == nil && (strings.Contains(part, "@") || isNews) {
			l.Path = v.Links.Page(u)
		}
		f.Links = append(f.Links, l)
	}
	return f
}

// messageURL returns the URL of the message with the given identifier. For a
// news message, id may also be the name of a newsgroup.
func (v *View) messageURL(id string) (uri.URI, error) {
	if v.Scheme.Traits.Message != nil {
		return v.Scheme.Traits.Message(v.URL, id)
	}
	return uri.Build(uri.Parts{Scheme: "mid", Path: uri.Escape(id, uri.Segment)})
}

// messagePart returns the part p for display. It reads at most *left bytes of
// text and subtracts the size of the text from *left. It shows an HTML part
// only if hasText is false, because the part usually repeats an earlier text.
func (v *View) messagePart(p *rfc822.Part, left *int64, hasText bool) messagePart {
	kind := media.TrimParameters(p.Media)
	shown := messagePart{Media: tty.Escape(kind), Image: strings.HasPrefix(kind, "image/")}
	shown.Path = v.Links.Part(v.URL, p.Number)
	disposition, _, _ := mime.ParseMediaType(p.Header.Get("Content-Disposition"))
	if name := PartName(p); disposition == "attachment" || !strings.HasPrefix(kind, "text/") {
		shown.Title = tty.Escape(name)
	}
	if kind != "text/plain" && (kind != "text/html" || hasText) || disposition == "attachment" {
		return shown
	}
	body, err := p.Body(func(string, ...any) {})
	var text []byte
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(decodeText(body, p.Media), *left))
	}
	*left -= int64(len(text))
	if kind == "text/html" {
		page, failed := htmltext.Render(bytes.NewReader(text), htmltext.Options{MaxText: maxShownText})
		text, err = []byte(page.Body), cmp.Or(err, failed)
	}
	switch {
	case err != nil:
		shown.Note = "The text is incomplete. " + v.Problem(err)
	case *left == 0:
		shown.Note = "The page shows only the start of the text."
	}
	shown.Inline, shown.Text = true, v.spans(string(cleanText(text)))
	return shown
}

// PartName returns the file name that the sender chose for a part.
func PartName(p *rfc822.Part) string {
	_, params, _ := mime.ParseMediaType(p.Header.Get("Content-Disposition"))
	name := params["filename"]
	if name == "" {
		_, params, _ = mime.ParseMediaType(p.Media)
		name = params["name"]
	}
	name = path.Base(strings.ReplaceAll(rfc822.DecodeWords(name), `\`, "/"))
	return cmp.Or(strings.Trim(name, "./"), "part-"+p.Number)
}
