package links

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/text/transform"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/baseuri"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/coding"
	"github.com/anyurl/fetch/uri"
)

// maxInflated is the maximum size of a decompressed document in bytes. It is
// twice the size that sitemaps.org allows for a sitemap.
const maxInflated = 100 << 20

// A form is a document format, such as HTML or CSS.
type form uint8

const (
	formNone     form = iota
	formMarkup        // HTML and SVG
	formCSS           // CSS
	formXML           // format determined by the root element
	formGzip          // compressed sitemap, recognized by its file name
	formPlaylist      // HLS playlist
	formData          // JSON-LD or web app manifest
)

func formOf(contentType string) form {
	bare := media.TrimParameters(contentType)
	switch bare {
	case "text/html", "application/xhtml+xml", "image/svg+xml", "application/vnd.wap.xhtml+xml":
		return formMarkup
	case "text/css":
		return formCSS
	case "text/xml", "application/xml":
		return formXML
	case "application/gzip", "application/x-gzip", "application/octet-stream":
		return formGzip
	case "application/vnd.apple.mpegurl", "application/x-mpegurl", "audio/mpegurl", "audio/x-mpegurl":
		return formPlaylist
	case "application/manifest+json", "application/ld+json":
		return formData
	}
	if strings.HasSuffix(bare, "+xml") {
		return formXML
	}
	return formNone
}

// inflate returns a reader that decompresses packed. The parameter name is the
// content coding. The reader fails if its output exceeds the size limit of w.
func (w *walk) inflate(packed io.Reader, name string) io.Reader {
	z := coding.NewReader(io.NopCloser(packed), []string{name}, nil)
	return &limitedReader{z, cmp.Or(w.inflateLimit, maxInflated)}
}

// visitDocument finds the links in the body of a response.
func (w *walk) visitDocument(retrieved uri.URI, media string, header fetch.Header, body io.Reader) (err error) {
	f := formOf(media)
	if w.out != nil && !CanRewrite(media) {
		return w.copyBody(body)
	}
	if f == formNone || w.stopped || f == formGzip && !strings.HasSuffix(retrieved.Path(), ".xml.gz") {
		return nil
	}
	if f == formGzip {
		body, f = w.inflate(body, "gzip"), formXML
	}
	in := readHead(body)
	if w.out == nil { // only for Extract, because the caller of Rewrite has decoded the body
		if name := coding.Detect(in.buf); name != "" {
			in = readHead(w.inflate(in, name))
		}
	}
	var name string
	w.charset, name = charsetOf(f, media, in.buf)
	switch wide := UTF16Of(in.buf, name); {
	case wide != nil:
		w.charset = nil // browsers encode the queries of such a document in UTF-8
		if w.out != nil {
			out := transform.NewWriter(w.out, wide.NewEncoder())
			w.out = out
			defer func() { err = errors.Join(err, out.Close()) }()
		}
		in = readHead(wide.NewDecoder().Reader(in))
	case w.charset != nil && w.out == nil:
		in = readHead(w.charset.NewDecoder().Reader(in))
	case w.charset != nil:
		w.raw = true // all bytes except references are copied unchanged
	}
	if w.markup != nil && f == formMarkup {
		if _, err := w.markup.Write(in.buf); err != nil {
			return err
		}
		in.r = io.TeeReader(in.r, w.markup)
	}
	if w.out != nil && f == formMarkup {
		in = readHead(byteFilter{in, name == "iso-2022-jp"})
	}
	head := in.buf
	w.setBase(retrieved, media, header, w.decode(head))
	switch f {
	case formCSS:
		s := sheet{w: w, in: bufio.NewReaderSize(in, 16<<10), out: w.out, from: "css", encoded: w.raw}
		return s.run()
	case formXML:
		return w.visitXML(in, head)
	case formPlaylist:
		return w.visitPlaylist(in)
	case formData:
		w.visitData(in, "json")
		return nil
	}
	return w.visitMarkup(in, isXML(media))
}

// isXML reports whether browsers read a document with the given media type as
// XML.
func isXML(kind string) bool { return strings.HasSuffix(media.TrimParameters(kind), "+xml") }

// A byteFilter replaces bytes by spaces that could change the charset in which a
// browser reads a document. A browser that assumes UTF-16 finds no markup without
// the byte NUL. The character ESC starts other characters in ISO-2022-JP, so
// that a browser that assumes this charset would not see the ends of attribute
// values. The bytes are replaced before the tokenizer reads them, because a
// space ends the name of an element.
type byteFilter struct {
	io.Reader
	isJapanese bool // the document has the charset ISO-2022-JP
}

func (f byteFilter) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	for i, c := range p[:n] {
		if c == 0 || c == 0x1b && !f.isJapanese {
			p[i] = ' '
		}
	}
	return n, err
}

// readHead reads the start of body, where a base element may occur. The
// returned reader returns the complete body. After a read error, it returns the
// bytes that were read and then the error.
func readHead(body io.Reader) *pushback {
	p := &pushback{buf: make([]byte, 0, 4<<10), r: body}
	for len(p.buf) < baseuri.MaxHead {
		if len(p.buf) == cap(p.buf) {
			p.buf = append(make([]byte, 0, 4*cap(p.buf)), p.buf...)
		}
		n, err := body.Read(p.buf[len(p.buf):cap(p.buf)])
		p.buf = p.buf[:len(p.buf)+n]
		if err != nil {
			p.r = errReader{err}
			break
		}
	}
	return p
}

// An errReader is a reader that always returns the same error.
type errReader struct{ err error }

func (f errReader) Read([]byte) (int, error) { return 0, f.err }

// setBase sets the base URL against which relative references are resolved.
func (w *walk) setBase(retrieved uri.URI, media string, header fetch.Header, head []byte) {
	d := baseuri.Document{Media: media, Header: header, Retrieved: retrieved}
	d.HTTP = w.scheme(retrieved.Scheme()).Traits.Web
	if containsFold(head, "<base") {
		d.Head = head
	}
	stated, origin := baseuri.Of(d)
	if origin == baseuri.HTML && stated.Host() == "" && w.scheme(stated.Scheme()).NeedsHost() {
		d.Head = nil // ignore a base without a host, such as "http:/x/"
		stated, origin = baseuri.Of(d)
	}
	if stated.IsZero() {
		return
	}
	w.base = stated
	w.stated = origin == baseuri.HTML && stated != retrieved.WithoutFragment().WithoutUserinfo()
}

// containsFold reports whether text contains word, ignoring case. The word must
// be in lower case and start with "<".
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

func (w *walk) copyBody(body io.Reader) error {
	_, err := io.Copy(w.out, body)
	return err
}

// visitXML finds the links in an XML document. The name of the root element
// selects the parser, for example for a sitemap or a feed.
func (w *walk) visitXML(in *pushback, head []byte) error {
	switch rootOf(head) {
	case "urlset", "sitemapindex":
		return w.visitFeed(in, (*feed).sitemap)
	case "rss", "rdf", "feed", "opml":
		return w.visitFeed(in, (*feed).item)
	case "mpd":
		return w.visitFeed(in, (*feed).presentation)
	}
	return w.visitMarkup(in, true)
}

// rootOf returns the name of the root element, without its namespace prefix.
func rootOf(head []byte) string {
	z := html.NewTokenizer(bytes.NewReader(head))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			return localName(string(name))
		}
	}
}

// localName removes the namespace prefix from an element name.
func localName(name string) string { return name[strings.LastIndexByte(name, ':')+1:] }

// A limitedReader reads at most n bytes from r. After that, Read returns an
// error.
type limitedReader struct {
	r io.Reader
	n int64
}

func (l *limitedReader) Read(p []byte) (int, error) {
	if l.n <= 0 {
		return 0, fetch.TooLarge.Errorf("decompressed document exceeds the limit")
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.n)])
	l.n -= int64(n)
	return n, err
}
