package links

import (
	"bufio"
	"errors"
	"io"
	"iter"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A Kind is the purpose of a link, such as a separate page or an image.
type Kind uint8

const (
	Page        Kind = iota // a separate document: a, area, an item of a sitemap or a feed
	Requisite               // required to display the document: an image, script, style sheet or font
	Frame                   // displayed inside the document and may contain links: iframe, frame, object
	Feed                    // RSS or Atom
	Sitemap                 // another sitemap
	Form                    // the target of a form with method GET
	Speculation             // a string in a script that looks like a URL
)

var kinds = [...]string{"page", "requisite", "frame", "feed", "sitemap", "form", "speculation"}

func (k Kind) String() string { return kinds[min(int(k), len(kinds)-1)] }

// A Link is a reference in a document.
type Link struct {
	URL      uri.URI // absolute, without fragment and userinfo
	Kind     Kind
	From     string // element and attribute or header field: "a href", "css url", "Link next"
	NoFollow bool   // set by the link itself or by a robots directive that precedes it

	// PageNoFollow is true if a robots directive of the document forbids
	// following its links. NoFollow is then true too.
	PageNoFollow bool

	// Template is true if the link is in markup inside a script element, such as
	// an element with the type text/template. Only Rewrite finds these links. A
	// browser that shows the copy without scripts may read them as elements.
	Template bool
}

// Extract returns an iterator over the links of a response. The links of the
// header come before the links of the body, which are in document order.
// Duplicate links are returned more than once.
//
// scheme returns the scheme with a name, such as [fetch.Client.Scheme]. retrieved
// is the URL of the response, after redirects. media is the media type of the
// body and may have parameters. header may be nil. The caller must
// decode the Content-Encoding of body, but Extract also accepts gzip.
//
// Extract skips references to the document itself, and URLs of schemes such as
// data, whose URLs contain the object, javascript or about. Links have no userinfo and no fragment. Letters
// in a path are encoded in UTF-8, and those in a query in the charset that the
// document states.
//
// If reading body fails, the iterator ends with a zero Link and the error. If
// decompressed data exceeds the limit, the fault of the error is
// fetch.TooLarge. Extract does not read the body if [CanExtract] returns false
// for media.
func Extract(scheme func(name string) fetch.Scheme, retrieved uri.URI, media string, header fetch.Header,
	body io.Reader) iter.Seq2[Link, error] {
	return ExtractCopy(scheme, retrieved, media, header, body, nil)
}

// ExtractCopy is like [Extract], but also writes the decoded document to
// markup, unless markup is nil. It writes only HTML and SVG documents. If a
// write fails, the iterator ends with its error.
func ExtractCopy(scheme func(name string) fetch.Scheme, retrieved uri.URI, media string, header fetch.Header, body io.Reader,
	markup io.Writer) iter.Seq2[Link, error] {
	return func(yield func(Link, error) bool) {
		w := &walk{scheme: scheme, base: retrieved, markup: markup, visit: func(l Link) (string, bool) { return "", yield(l, nil) }}
		w.visitHeader(header)
		if err := w.visitDocument(retrieved, media, header, body); err != nil && !w.stopped {
			yield(Link{}, err)
		}
	}
}

// Rewrite copies a document to out and replaces its references. For each link
// in the body, Rewrite calls replace. This function returns the new reference,
// which may be relative, or "" to keep the reference unchanged. Unlike Extract,
// Rewrite also finds the targets of forms with method POST, and links in
// templates. Rewrite appends the fragment of the original reference.
//
// Rewrite writes HTML and SVG in a form that all browsers read in the same way:
// outside the tags that it has parsed, a "<" before a letter is escaped. An xmp
// element becomes pre. The attributes of link, meta, base, iframe and script
// elements are serialized again. Such an element, or another frame or object, is
// left out if its tag is longer than 256 KiB. The links of other tags of this
// length are not replaced.
//
// Rewrite empties the href attribute of a base element and makes relative
// references absolute. It also empties the href attribute of connection hints,
// such as preconnect, and of links that a browser may read differently, such as
// https:x. It disables speculation rules and animations of links. In XML, it
// removes declarations of entities that contain markup, and XSLT style sheets.
// Invalid characters in UTF-16 are replaced.
//
// If [CanRewrite] returns false for media, the document is copied unchanged.
func Rewrite(out io.Writer, scheme func(name string) fetch.Scheme, retrieved uri.URI, media string, header fetch.Header,
	body io.Reader, replace func(Link) string) error {
	b := bufio.NewWriterSize(out, 16<<10)
	w := &walk{scheme: scheme, base: retrieved, visit: func(l Link) (string, bool) { return replace(l), true }, out: b}
	if err := w.visitDocument(retrieved, media, header, body); err != nil {
		return errors.Join(err, b.Flush())
	}
	return b.Flush()
}

// CanExtract reports whether [Extract] supports bodies of the given media type.
func CanExtract(media string) bool { return formOf(media) != formNone }

// CanRewrite reports whether [Rewrite] supports bodies of the given media type.
func CanRewrite(media string) bool {
	switch formOf(media) {
	case formMarkup, formCSS:
		return true
	}
	return false
}
