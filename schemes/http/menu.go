package http

import (
	"bytes"
	"io"
	"iter"
	"mime"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/autoindex"
	"github.com/anyurl/fetch/internal/coding"
	"github.com/anyurl/fetch/internal/media"
	"github.com/anyurl/fetch/uri"
)

// Limits of a listing.
const (
	maxEntries = 1_000_000
	maxToken   = 64 << 10
	maxText    = 1 << 10 // of what is kept of one field
)

// menu reads what autoindex modules of servers write, and sitemaps, which may
// be files of gzip.
func menu(base uri.URI, mediaType string, r io.Reader) iter.Seq2[fetch.Entry, error] {
	return func(yield func(fetch.Entry, error) bool) {
		var p interface {
			Token(html.Token) (fetch.Entry, bool)
		}
		switch bare := bareType(mediaType); {
		case isGzip(bare):
			r = coding.NewReader(io.NopCloser(r), []string{"gzip"}, nil)
			p = &sitemap{base: base}
		case isHTML(bare):
			p = autoindex.New(base)
		case isXML(bare):
			p = &sitemap{base: base}
		default:
			yield(fetch.Entry{}, fetch.Unsupported.Errorf("no listing: the media type is neither HTML nor XML"))
			return
		}
		z := html.NewTokenizer(r)
		z.SetMaxBuf(maxToken)
		z.AllowCDATA(true)
		for n := 0; ; {
			end := z.Next() == html.ErrorToken
			if e, ok := p.Token(z.Token()); ok {
				if n++; n > maxEntries {
					yield(fetch.Entry{}, fetch.TooLarge.Errorf("more than %d entries", maxEntries))
					return
				}
				if !yield(e, nil) {
					return
				}
			}
			if end {
				if err := z.Err(); err == html.ErrBufferExceeded {
					yield(fetch.Entry{}, fetch.TooLarge.Errorf("listing with a tag or text of more than %d bytes", maxToken))
				} else if err != io.EOF {
					yield(fetch.Entry{}, err)
				}
				return
			}
		}
	}
}

// bareType is a media type without its parameters, "" where they are malformed.
func bareType(mediaType string) string {
	if strings.IndexByte(mediaType, ';') < 0 {
		return strings.ToLower(strings.TrimSpace(mediaType))
	}
	bare, _, _ := mime.ParseMediaType(mediaType)
	return bare
}

func isHTML(bare string) bool { return bare == "text/html" || bare == "application/xhtml+xml" }

func isGzip(bare string) bool {
	return bare == "application/gzip" || bare == "application/x-gzip" || bare == "application/octet-stream"
}

func isXML(bare string) bool { return bare == "text/xml" || bare == "application/xml" }

// lookLen is how much of a body shows what it is.
const sniffLen = 1 << 10

// look gives a type to what came without one and finds listings out. It reads
// the beginning of bodies that may be either.
func (r *responseBuilder) sniff() {
	bare := bareType(r.out.Media)
	gzipped := isGzip(bare) && strings.HasSuffix(r.wire.path, ".xml.gz")
	mayList := isHTML(bare) && strings.HasSuffix(r.wire.path, "/") || isXML(bare) || gzipped
	if r.req.Op != fetch.Get || r.out.Offset != 0 || r.out.Fault != nil || r.out.Unchanged || !r.out.Location.IsZero() ||
		r.out.Media != "" && !mayList || !r.decoded && r.out.Header.Get("Content-Encoding") != "" {
		return
	}
	b := &prefixedBody{ReadCloser: r.out.Body}
	r.out.Body = b
	if isHTML(bare) {
		if b.isListing(r.req.URL) {
			r.out.Kind = fetch.Menu
		}
		return
	}
	b.read(sniffLen)
	if r.out.Media == "" {
		r.out.Media = media.Sniff(b.prefix)
		return
	}
	prefix := b.prefix
	if gzipped {
		prefix = inflatePrefix(prefix)
	}
	if isSitemap(prefix) {
		r.out.Kind = fetch.Menu
	}
}

// isSitemap reports whether XML that begins with start is a sitemap.
func isSitemap(prefix []byte) bool {
	prefix = bytes.ToLower(prefix)
	return bytes.Contains(prefix, []byte("<urlset")) || bytes.Contains(prefix, []byte("<sitemapindex"))
}

// inflatedPrefix decompresses the prefix of a gzip stream.
func inflatePrefix(prefix []byte) []byte {
	z := coding.NewReader(io.NopCloser(bytes.NewReader(prefix)), []string{"gzip"}, nil)
	text := make([]byte, sniffLen)
	n, _ := io.ReadFull(z, text) // as far as it goes
	return text[:n]
}

// begun is a body whose first bytes have been read already.
type prefixedBody struct {
	io.ReadCloser
	prefix []byte
	err    error
}

// read adds to start what the next Read returns, at most n bytes.
func (b *prefixedBody) read(n int) {
	have := len(b.prefix)
	b.prefix = slices.Grow(b.prefix, n)
	for len(b.prefix) == have && b.err == nil {
		n, b.err = b.ReadCloser.Read(b.prefix[have:cap(b.prefix)])
		b.prefix = b.prefix[:have+n]
	}
}

// Limits of what is read before a page is known to be a listing or not. That
// of Caddy begins behind 15 KiB of style and icons.
const (
	maxListingPrefix = 64 << 10
	maxListingReads  = 32 // each looks at the page from its beginning
)

// isListing reports whether b is the listing of the directory at u. It reads
// on only while the beginning may still be one, so that a page that comes
// slowly is not held back.
func (b *prefixedBody) isListing(u uri.URI) bool {
	for n := 0; ; n++ {
		b.read(max(4<<10, len(b.prefix)))
		listing, undecided := autoindex.IsListing(u, b.prefix, b.err != nil)
		if !undecided || n == maxListingReads || len(b.prefix) >= maxListingPrefix {
			return listing
		}
	}
}

func (b *prefixedBody) Read(p []byte) (int, error) {
	switch {
	case len(b.prefix) > 0:
		n := copy(p, b.prefix)
		b.prefix = b.prefix[n:]
		return n, nil
	case b.err != nil:
		return 0, b.err
	}
	return b.ReadCloser.Read(p)
}
