package page

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"mime"
	"strings"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/baseuri"
	"github.com/anyurl/fetch/internal/base/htmltext"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/format/crumbs"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
)

// Options configures [Load]. Only the field Scheme is required.
type Options struct {
	Scheme   func(name string) fetch.Scheme // the schemes of URLs
	Width    int                            // length of the lines of an HTML page in columns, or 0 for 80
	MaxItems int                            // limit for the items of a listing, or 0 for 20,000
	MaxBytes int64                          // limit for the size of a text in bytes, or 0 for 4 MiB
}

const (
	maxItems = 20_000
	maxBytes = 4 << 20
)

// Load reads the response of a server and returns it as a Page. It closes the
// body. It must not be called for a session. If reading the body fails, Load
// returns the error and the part of the page before it. The page is nil if the
// failure occurred at the start of the body.
func Load(resp *fetch.Response, o Options) (*Page, error) {
	defer resp.Body.Close()
	p := &Page{URL: resp.URL.WithoutUserinfo(), Media: media.TrimParameters(resp.Media), Size: resp.Size, Time: resp.Time,
		Title: crumbs.Name(o.Scheme(resp.URL.Scheme()), resp.URL), link: resp.Request}
	switch resp.Kind {
	case fetch.Menu:
		return p.listing(resp, o)
	case fetch.Index:
		p.Kind = Search
		return p, nil
	}
	return p.document(resp, o)
}

// listing reads the entries of a listing.
func (p *Page) listing(resp *fetch.Response, o Options) (*Page, error) {
	p.Kind = Listing
	for e, err := range resp.Entries() {
		if err != nil {
			if len(p.Items) == 0 {
				return nil, err
			}
			return p, err
		}
		if !p.Add(e, o) {
			break
		}
	}
	return p, nil
}

// document reads a document. It reads the complete body only if the document is
// text.
func (p *Page) document(resp *fetch.Response, o Options) (*Page, error) {
	limit := cmp.Or(o.MaxBytes, maxBytes)
	in := bufio.NewReaderSize(resp.Body, baseuri.MaxHead)
	prefix, err := in.Peek(media.SniffLen)
	if err != nil && err != io.EOF {
		return nil, err
	}
	p.Media = cmp.Or(p.Media, media.TrimParameters(media.TypeOf(resp.URL.Path(), prefix)))
	if !isText(p.Media, prefix) {
		p.Kind = File
		return p, nil
	}
	p.Kind = Text
	text, err := io.ReadAll(io.LimitReader(in, limit+1))
	if int64(len(text)) > limit {
		text, p.Truncated = text[:limit], true
	}
	if len(text) == 0 && err != nil {
		return nil, err
	}
	if p.Media == "text/html" || p.Media == "application/xhtml+xml" {
		return p, errors.Join(err, p.html(resp, text, o))
	}
	p.Text = decode(text, resp.Media)
	return p, err
}

// isText reports whether a document can be displayed. A document in an encoding
// other than UTF-8 is recognized by its media type or by its byte order mark.
func isText(mediaType string, prefix []byte) bool {
	return tty.IsText(prefix) || isUTF16(prefix) || strings.HasPrefix(mediaType, "text/") && !bytes.ContainsRune(prefix, 0)
}

func isUTF16(text []byte) bool {
	return bytes.HasPrefix(text, []byte("\xfe\xff")) || bytes.HasPrefix(text, []byte("\xff\xfe"))
}

// html renders an HTML page.
func (p *Page) html(resp *fetch.Response, source []byte, o Options) error {
	web := o.Scheme(resp.URL.Scheme()).Traits.Web
	page := decode(source, resp.Media)
	base, _ := baseuri.Of(baseuri.Document{Media: p.Media, Head: []byte(page[:min(len(page), baseuri.MaxHead)]),
		Header: resp.Header, HTTP: web, Retrieved: resp.URL})
	numbers, full := map[string]int{}, false
	link := func(ref, text string) int {
		if full || strings.HasPrefix(ref, "#") {
			return 0
		}
		u, _, err := baseuri.ResolveLocation(base, ref)
		target := o.Scheme(u.Scheme())
		if err != nil || u.Scheme() == "javascript" || target.Traits.Embedded {
			return 0
		}
		if n := numbers[u.Unredacted()]; n > 0 {
			return n
		}
		e := fetch.Entry{Name: cmp.Or(text, crumbs.Name(target, u)), URL: u, Kind: fetch.Unknown, Size: -1}
		if full = !p.Add(e, o); full {
			return 0
		}
		numbers[u.Unredacted()] = len(p.Items)
		return len(p.Items)
	}
	text, err := htmltext.Render(strings.NewReader(page), htmltext.Options{Width: o.Width, Link: link, MaxText: 2 * maxBytes})
	p.Text, p.Title = text.Body, cmp.Or(text.Title, p.Title)
	p.Truncated = p.Truncated || text.Truncated
	return err
}

// decode converts a text to UTF-8. The charset parameter of the media type
// names the encoding. Without it, text that is not UTF-8 is decoded as
// windows-1252.
func decode(text []byte, mediaType string) string {
	if isUTF16(text) {
		out, _ := unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewDecoder().Bytes(text)
		return string(out)
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	_, params, _ := mime.ParseMediaType(mediaType)
	charset := strings.ToLower(params["charset"])
	if charset == "" || charset == "utf-8" || charset == "us-ascii" {
		if utf8.Valid(text) || charset == "utf-8" {
			return string(text)
		}
		charset = "windows-1252"
	}
	encoding, err := htmlindex.Get(charset)
	if err != nil {
		encoding = charmap.Windows1252
	}
	out, err := encoding.NewDecoder().Bytes(text)
	if err != nil {
		return string(text)
	}
	return string(out)
}
