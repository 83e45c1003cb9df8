package links

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"mime"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/text/encoding/unicode"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/baseuri"
	"github.com/anyurl/fetch/internal/coding"
	"github.com/anyurl/fetch/uri"
)

// maxInflated is what a sitemap may hold: twice what sitemaps.org allows.
const maxInflated = 100 << 20

// magic is how gzip begins. Some servers pack pages whether that was asked for
// or not, and what was asked for without is kept as it came.
var magic = []byte("\x1f\x8b\x08")

// A form is a way to read a body.
type form uint8

const (
	nothing form = iota
	markup       // HTML and SVG
	style        // CSS
	xml          // what its root says
	packed       // gzip: a sitemap, by the name of it
)

func formOf(media string) form {
	bare, _, _ := mime.ParseMediaType(media)
	switch bare {
	case "text/html", "application/xhtml+xml", "image/svg+xml", "application/vnd.wap.xhtml+xml":
		return markup
	case "text/css":
		return style
	case "text/xml", "application/xml":
		return xml
	case "application/gzip", "application/x-gzip", "application/octet-stream":
		return packed
	}
	if strings.HasSuffix(bare, "+xml") {
		return xml
	}
	return nothing
}

// inflate decompresses a gzip stream, up to the limit of w.
func (w *walk) inflate(packed io.Reader) io.Reader {
	z := coding.NewReader(io.NopCloser(packed), []string{"gzip"}, nil)
	return &limited{z, cmp.Or(w.most, maxInflated)}
}

// document goes through a body.
func (w *walk) document(retrieved uri.URI, media string, header fetch.Header, body io.Reader) error {
	f := formOf(media)
	if w.out != nil && !CanRewrite(media) {
		return w.copy(body)
	}
	if f == nothing || w.stopped || f == packed && !strings.HasSuffix(retrieved.Path(), ".xml.gz") {
		return nil
	}
	if f == packed {
		body, f = w.inflate(body), xml
	}
	in := begin(body)
	if w.out == nil && bytes.HasPrefix(in.buf, magic) {
		in = begin(w.inflate(in))
	}
	if wide(in.buf) {
		if w.out != nil {
			return w.copy(in)
		}
		in = begin(unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewDecoder().Reader(in))
	}
	head := in.buf
	w.rebase(retrieved, media, header, head)
	switch f {
	case style:
		s := sheet{w: w, in: bufio.NewReaderSize(in, 16<<10), out: w.out, from: "css"}
		return s.run()
	case xml:
		return w.xml(in, head)
	}
	return w.markup(in, strings.HasPrefix(strings.ToLower(media), "image/"))
}

// begin reads as much of a body as may say what its base is. An error comes
// behind that.
func begin(body io.Reader) *pushback {
	p := &pushback{buf: make([]byte, 0, 4<<10), r: body}
	for len(p.buf) < baseuri.MaxHead {
		if len(p.buf) == cap(p.buf) {
			p.buf = append(make([]byte, 0, 4*cap(p.buf)), p.buf...)
		}
		n, err := body.Read(p.buf[len(p.buf):cap(p.buf)])
		p.buf = p.buf[:len(p.buf)+n]
		if err != nil {
			p.r = failing{err}
			break
		}
	}
	return p
}

// failing is a reader of nothing but an error.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// rebase finds against what references are resolved.
func (w *walk) rebase(retrieved uri.URI, media string, header fetch.Header, head []byte) {
	d := baseuri.Document{Media: media, Header: header, Retrieved: retrieved}
	d.HTTP = retrieved.Scheme() == "http" || retrieved.Scheme() == "https"
	if containsFold(head, "<base") {
		d.Head = head
	}
	stated, origin := baseuri.Of(d)
	if origin == baseuri.HTML && needsHost(stated.Scheme()) && stated.Host() == "" {
		d.Head = nil // "http:/x/" leads nowhere, and neither would what is relative to it
		stated, origin = baseuri.Of(d)
	}
	if stated.IsZero() {
		return
	}
	w.base = stated
	w.stated = origin == baseuri.HTML && stated != retrieved.WithoutFragment().WithoutUserinfo()
}

// containsFold reports whether text holds word, which is in lower case and
// begins with a "<".
func containsFold(text []byte, word string) bool {
	for {
		i := bytes.IndexByte(text, '<')
		if i < 0 || len(text)-i < len(word) {
			return false
		}
		if strings.EqualFold(string(text[i:i+len(word)]), word) {
			return true
		}
		text = text[i+1:]
	}
}

// wide reports whether a text begins with the mark of UTF-16.
func wide(head []byte) bool {
	return bytes.HasPrefix(head, []byte("\xFE\xFF")) || bytes.HasPrefix(head, []byte("\xFF\xFE"))
}

func (w *walk) copy(body io.Reader) error {
	_, err := io.Copy(w.out, body)
	return err
}

// xml reads a document by its root element.
func (w *walk) xml(in *pushback, head []byte) error {
	switch rootOf(head) {
	case "urlset", "sitemapindex":
		return w.feed(in, (*feed).sitemap)
	case "rss", "rdf", "feed", "opml":
		return w.feed(in, (*feed).item)
	}
	return w.markup(in, true)
}

// rootOf is the name of the first element, without prefix.
func rootOf(head []byte) string {
	z := html.NewTokenizer(bytes.NewReader(head))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			return local(string(name))
		}
	}
}

// local is a name without its prefix.
func local(name string) string { return name[strings.LastIndexByte(name, ':')+1:] }

// limited reads at most n bytes of r, and says so if there is more.
type limited struct {
	r io.Reader
	n int64
}

func (l *limited) Read(p []byte) (int, error) {
	if l.n <= 0 {
		return 0, fetch.TooLarge.Errorf("gzip that does not end")
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.n)])
	l.n -= int64(n)
	return n, err
}
