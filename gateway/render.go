package gateway

import (
	"bufio"
	"bytes"
	"cmp"
	"html/template"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/media"
	"github.com/anyurl/fetch/internal/rfc822"
	"github.com/anyurl/fetch/internal/tty"
	"github.com/anyurl/fetch/uri"
)

// listing sends the entries of a menu, a directory or a newsgroup as a table.
func (x *exchange) listing(t target, s selection, resp *fetch.Response, scheme fetch.Scheme) {
	if !x.render("listing", struct{ page }{x.newCapturePage(titleOf(t.url), t, s)}) || x.r.Method == http.MethodHead {
		return
	}
	problem := ""
	for e, err := range scheme.Menu(t.url, resp.Media, resp.Body) {
		if err == nil {
			err = x.r.Context().Err()
		}
		if err != nil {
			problem = "The listing is incomplete. " + problemText(err)
			break
		}
		if !x.render("entry", x.entryRow(t, s, e)) {
			return
		}
	}
	x.render("endtable", problem)
}

type entryRow struct{ Name, Path, Kind, Size, Date string }

// entryRow returns the row of an entry. Its link stays in the archive.
func (x *exchange) entryRow(t target, s selection, e fetch.Entry) entryRow {
	row := entryRow{Name: tty.Escape(cmp.Or(e.Name, e.URL.String())), Size: formatSize(e.Size), Date: formatDate(e.Time)}
	if e.URL.IsZero() {
		row.Name, row.Size = tty.Escape(e.Name), ""
		return row
	}
	row.Kind = cmp.Or(tty.Escape(media.TrimParameters(e.Media)), e.Kind.String())
	if _, ok := x.schemes[e.URL.Scheme()]; ok {
		row.Path = t.archive.pathOf(s.chosen, formPage, e.URL.WithoutUserinfo())
	}
	return row
}

// text sends a text document as a page. Its charset is converted to UTF-8.
func (x *exchange) text(t target, s selection, resp *fetch.Response) {
	x.w.WriteHeader(status(resp))
	if !x.render("text", struct{ page }{x.newCapturePage(titleOf(t.url), t, s)}) || x.r.Method == http.MethodHead {
		return
	}
	problem := ""
	in := bufio.NewReaderSize(decodeText(resp.Body, resp.Media), 32<<10)
	for {
		chunk, err := readRunes(in)
		template.HTMLEscape(x.w, chunk)
		if err == io.EOF {
			break
		}
		if err != nil {
			problem = "The text is incomplete. " + problemText(err)
			break
		}
	}
	x.render("endtext", problem)
}

// readRunes reads a chunk of UTF-8 text for a page.
func readRunes(in *bufio.Reader) ([]byte, error) {
	if _, err := in.Peek(1); err != nil {
		return nil, err
	}
	chunk, _ := in.Peek(in.Buffered())
	if complete := trimPartial(chunk); len(complete) > 0 && len(complete) < len(chunk) {
		chunk = complete
	}
	text := cleanText(chunk)
	_, err := in.Discard(len(chunk))
	return text, err
}

// cleanText replaces the control characters that HTML does not permit, and bytes
// that are not UTF-8.
func cleanText(text []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' && r != '\r' && r != '\f' || r >= 0x7f && r < 0xa0 {
			return utf8.RuneError
		}
		return r
	}, text)
}

// decodeText returns a reader that converts text to UTF-8. Without a charset in
// the media type, the charset is detected.
func decodeText(r io.Reader, contentType string) io.Reader {
	in := bufio.NewReaderSize(r, 4<<10)
	start, _ := in.Peek(1024) // the next Read returns the same error
	encoding, name, certain := charset.DetermineEncoding(start, contentType)
	if name == "utf-8" || !certain && utf8.Valid(trimPartial(start)) {
		return in
	}
	return encoding.NewDecoder().Reader(in)
}

// trimPartial removes an incomplete character at the end of text.
func trimPartial(text []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if last := text[len(text)-n:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return text[:len(text)-n]
			}
			break
		}
	}
	return text
}

type articlePage struct {
	page
	Fields  []field
	Parts   []messagePart
	Problem string
}

type field struct {
	Name, Value string
	Links       []archiveLink
}

type messagePart struct {
	Title, Media, Path, Text, Note string
	Inline, Image                  bool
}

// Limits of a page that shows a message. The bytes of all parts remain
// available under their own URLs.
const (
	maxShownParts = 100
	maxShownText  = 1 << 20 // bytes of text of all parts
)

// shownFields lists the header fields that a page shows.
var shownFields = []string{
	"From", "To", "Cc", "Newsgroups", "Subject", "Date", "Organization", "Followup-To", "Message-ID", "In-Reply-To",
	"References",
}

// article sends a message with its header fields and its parts.
func (x *exchange) article(t target, s selection, resp *fetch.Response) {
	head, rest := rfc822.ReadHeader(resp.Body)
	header := rfc822.ParseHeader(head)
	data := articlePage{page: x.newCapturePage(cmp.Or(rfc822.DecodeWords(header.Get("Subject")), titleOf(t.url)), t, s)}
	for _, name := range shownFields {
		if value := header.Get(name); value != "" {
			data.Fields = append(data.Fields, x.field(t, s, name, value))
		}
	}
	left := int64(maxShownText)
	for p, err := range rfc822.Parts(io.MultiReader(bytes.NewReader(head), rest)) {
		if err == nil {
			err = x.r.Context().Err()
		}
		if err != nil {
			data.Problem = "The message is incomplete. " + problemText(err)
			break
		}
		if len(data.Parts) == maxShownParts {
			data.Problem = "The page shows only the first parts of the message."
			break
		}
		data.Parts = append(data.Parts, x.messagePart(t, s, p, &left))
	}
	x.render("article", data)
}

// field returns a header field. The identifiers of other articles are links.
func (x *exchange) field(t target, s selection, name, value string) field {
	f := field{Name: name, Value: tty.Escape(rfc822.DecodeWords(value))}
	isNews := strings.HasSuffix(t.url.Scheme(), "news") || strings.HasPrefix(t.url.Scheme(), "nntp")
	if !isNews || name != "References" && name != "In-Reply-To" {
		return f
	}
	f.Value = ""
	for id := range strings.FieldsSeq(value) {
		u, err := articleURL(t.url, strings.Trim(id, "<>"))
		if err == nil && len(f.Links) < maxShownParts {
			f.Links = append(f.Links, archiveLink{tty.Escape(id), t.archive.pathOf(s.chosen, formPage, u)})
		}
	}
	return f
}

// articleURL returns the news URL of another article on the server of u.
func articleURL(u uri.URI, id string) (uri.URI, error) {
	p := u.Parts()
	scheme := "news"
	if u.Scheme() == "snews" || u.Scheme() == "nntps" {
		scheme = "snews"
	}
	path := uri.Escape(id, uri.Segment)
	if p.HasAuthority {
		path = "/" + path
	}
	return uri.Build(uri.Parts{
		Scheme: scheme, Host: p.Host, Port: p.Port, HasAuthority: p.HasAuthority, HasPort: p.HasPort, Path: path,
	})
}

// messagePart returns a part of a message. It reads at most left bytes of its
// text and subtracts their number from left.
func (x *exchange) messagePart(t target, s selection, p *rfc822.Part, left *int64) messagePart {
	kind := media.TrimParameters(p.Media)
	shown := messagePart{Media: tty.Escape(kind), Image: strings.HasPrefix(kind, "image/")}
	shown.Path = t.archive.path + s.chosen + string(formBytes) + ";part=" + p.Number + "/" + t.url.Unredacted()
	disposition, _, _ := mime.ParseMediaType(p.Header.Get("Content-Disposition"))
	if name := partName(p); disposition == "attachment" || !strings.HasPrefix(kind, "text/") {
		shown.Title = tty.Escape(name)
	}
	if kind != "text/plain" || disposition == "attachment" {
		return shown
	}
	body, err := p.Body(func(string, ...any) {})
	var text []byte
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(decodeText(body, p.Media), *left))
	}
	*left -= int64(len(text))
	switch {
	case err != nil:
		shown.Note = "The text is incomplete. " + problemText(err)
	case *left == 0:
		shown.Note = "The page shows only the start of the text."
	}
	shown.Inline, shown.Text = true, string(cleanText(text))
	return shown
}
