package links

import (
	"bufio"
	"errors"
	"io"
	"iter"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A Kind says what a document wants with the URL that it names.
type Kind uint8

const (
	Page      Kind = iota // a document of its own: a, area, the items of a sitemap or feed
	Requisite             // needed to show the document: images, scripts, style sheets, fonts
	Frame                 // shown within the document, and leads on itself: iframe, frame, object
	Feed                  // RSS or Atom
	Sitemap               // a further sitemap
	Form                  // where a form goes that is sent by GET: for those who ask for it
)

var kinds = [...]string{"page", "requisite", "frame", "feed", "sitemap", "form"}

func (k Kind) String() string { return kinds[min(int(k), len(kinds)-1)] }

// A Link is one reference of a document.
type Link struct {
	URL      uri.URI // absolute, without fragment and userinfo
	Kind     Kind
	From     string // where it stands: "a href", "css url", "Link next"
	NoFollow bool   // by the link, or by what the document said about robots before it
}

// Extract yields what a document and its header lead to, in the order in which
// it stands there; what stands twice comes twice. Retrieved is the URL by which
// the document was retrieved in the end, media the type of the body, with its
// parameters. Header may be nil. Body is without any Content-Encoding but gzip,
// which shows.
//
// References to the document itself are left out, and what leads nowhere: data,
// javascript, about and their like. Every other scheme comes out, known or not.
// Userinfo and fragments are gone.
//
// An error of body, or fetch.TooLarge from gzip that does not end,
// comes last, without a Link. A body that cannot hold links is not read.
func Extract(retrieved uri.URI, media string, header fetch.Header, body io.Reader) iter.Seq2[Link, error] {
	return func(yield func(Link, error) bool) {
		w := &walk{base: retrieved, visit: func(l Link) (string, bool) { return "", yield(l, nil) }}
		w.header(header)
		if err := w.document(retrieved, media, header, body); err != nil && !w.stopped {
			yield(Link{}, err)
		}
	}
}

// Rewrite copies a document to out with its references replaced by what to
// returns for them: a relative reference or a URL. Their fragments are added
// again. Where it returns "" the reference stays. All else is copied byte for
// byte, but for a base element, which has nothing to say any more: references
// that were relative to it become absolute.
//
// To gets only the Links of the body, and sees Form and the others alike. A
// document for which Rewritable does not hold is copied as it is.
func Rewrite(out io.Writer, retrieved uri.URI, media string, header fetch.Header, body io.Reader, to func(Link) string) error {
	b := bufio.NewWriterSize(out, 16<<10)
	w := &walk{base: retrieved, visit: func(l Link) (string, bool) { return to(l), true }, out: b}
	if err := w.document(retrieved, media, header, body); err != nil {
		return errors.Join(err, b.Flush())
	}
	return b.Flush()
}

// Holds reports whether Extract looks into bodies of this type.
func CanExtract(media string) bool { return formOf(media) != nothing }

// Rewritable reports whether Rewrite looks into bodies of this type.
func CanRewrite(media string) bool {
	switch formOf(media) {
	case markup, style:
		return true
	}
	return false
}
