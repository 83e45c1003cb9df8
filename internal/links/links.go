package links

import (
	"bufio"
	"errors"
	"io"
	"iter"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A Kind describes the purpose of a link in its document.
type Kind uint8

const (
	Page      Kind = iota // a separate document: a, area, an item of a sitemap or a feed
	Requisite             // required to display the document: an image, script, style sheet or font
	Frame                 // displayed inside the document and may contain links: iframe, frame, object
	Feed                  // RSS or Atom
	Sitemap               // another sitemap
	Form                  // the target of a form with method GET
)

var kinds = [...]string{"page", "requisite", "frame", "feed", "sitemap", "form"}

func (k Kind) String() string { return kinds[min(int(k), len(kinds)-1)] }

// A Link is a reference in a document.
type Link struct {
	URL      uri.URI // absolute, without fragment and userinfo
	Kind     Kind
	From     string // element and attribute or header field: "a href", "css url", "Link next"
	NoFollow bool   // set by the link itself or by a robots directive that precedes it
}

// Extract returns an iterator over the links of a response: first those of its
// header, then those of its body, in document order. A link that occurs twice
// is yielded twice. retrieved is the final URL of the document after redirects.
// media is the media type of the body and may have parameters. header may be
// nil. A Content-Encoding of body must be decoded, but Extract also accepts
// gzip.
//
// Extract skips references to the document itself and URLs with a scheme such
// as data, javascript or about. It yields links with any other scheme. Links
// have no userinfo and no fragment.
//
// If reading body fails, the iterator ends with a zero Link and the error. The
// error for compressed data larger than the limit is fetch.TooLarge. Extract
// does not read a body for which [CanExtract] is false.
func Extract(retrieved uri.URI, media string, header fetch.Header, body io.Reader) iter.Seq2[Link, error] {
	return func(yield func(Link, error) bool) {
		w := &walk{base: retrieved, visit: func(l Link) (string, bool) { return "", yield(l, nil) }}
		w.visitHeader(header)
		if err := w.visitDocument(retrieved, media, header, body); err != nil && !w.stopped {
			yield(Link{}, err)
		}
	}
}

// Rewrite copies a document to out with its references replaced. For each link
// of the body, Rewrite calls to, which returns a relative reference or a URL.
// Rewrite adds the fragment of the original reference. If to returns "", the
// reference is not changed.
//
// Other bytes are copied unchanged, with one exception. The href of a base
// element is emptied, and references that were relative to it become absolute.
// A document for which [CanRewrite] is false is copied unchanged.
func Rewrite(out io.Writer, retrieved uri.URI, media string, header fetch.Header, body io.Reader,
	to func(Link) string) error {
	b := bufio.NewWriterSize(out, 16<<10)
	w := &walk{base: retrieved, visit: func(l Link) (string, bool) { return to(l), true }, out: b}
	if err := w.visitDocument(retrieved, media, header, body); err != nil {
		return errors.Join(err, b.Flush())
	}
	return b.Flush()
}

// CanExtract reports whether Extract finds links in bodies of this media type.
func CanExtract(media string) bool { return formOf(media) != formNone }

// CanRewrite reports whether Rewrite replaces links in bodies of this media
// type.
func CanRewrite(media string) bool {
	switch formOf(media) {
	case formMarkup, formCSS:
		return true
	}
	return false
}
