// Package links finds the links in documents, for crawlers and link checkers.
//
// [Links] returns the links of a document. [InResponse] returns the links of a
// response, including its header fields. They support these formats:
//
//   - HTML and XHTML, including inline style sheets, srcset attributes,
//     refresh directives and JSON-LD
//   - CSS, SVG and other XML
//   - sitemaps and sitemap indexes, also with gzip compression
//   - RSS, Atom, RDF and OPML
//   - HLS and DASH playlists, web app manifests
//
// HTML and CSS are parsed by the rules of their standards, as in browsers.
// Malformed input is therefore not an error. A document is read once, in constant
// memory. The entries of a listing, such as a gopher menu, are no links; see
// [fetch.Response.Entries].
package links

import (
	"io"
	"iter"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/format/links"
	"github.com/anyurl/fetch/uri"
)

// A Kind is the purpose of a link, such as a separate page or an image.
type Kind uint8

const (
	Page      Kind = iota // a separate document: a, area, an item of a sitemap or a feed
	Requisite             // required to display the document: an image, script, style sheet or font
	Frame                 // displayed inside the document and may contain links: iframe, frame, object
	Feed                  // RSS or Atom
	Sitemap               // another sitemap
	Form                  // the target of a form with method GET
)

// String returns the name of the Kind, such as "page".
func (k Kind) String() string { return links.Kind(k).String() }

// A Link is a reference in a document or in the header of a response.
type Link struct {
	URL  uri.URI // absolute, without fragment and user information
	Kind Kind
	From string // element and attribute, or header field, such as "a href", "css url" or "Link next"

	// NoFollow is true if the document instructs robots not to follow the link:
	// by rel=nofollow, a robots meta element or the field X-Robots-Tag.
	NoFollow bool
}

// Links returns an iterator over the links of a document, in the order of the
// document. Equal links are returned more than once. The URL base is the URL
// from which the document was retrieved, after redirects. A base element in the
// document takes precedence. The mediaType may have parameters, such as
// "text/html; charset=shift_jis".
//
// Links skips references to the document itself, and URLs that cannot be
// retrieved, such as javascript and data URLs. Letters in the path of a URL are
// encoded in UTF-8, and those in the query in the charset of the document.
//
// If reading r fails, the iterator ends with a zero Link and the error. If r is
// a compressed sitemap of more than 100 MiB, the error has the Fault TooLarge.
// The iterator does not read r if [Supports] returns false for mediaType. It can
// be used only once.
func Links(mediaType string, base uri.URI, r io.Reader) iter.Seq2[Link, error] {
	return convert(links.Extract(browserScheme, base, mediaType, nil, r))
}

// InResponse returns an iterator over the links of a response, like [Links]. The
// links in the header come first. The iterator reads Body of resp, and the caller
// closes it. The parameter client is the Client that returned resp. Its schemes
// define the syntax of URLs.
//
// A request for a link is the result of [fetch.Response.Request], so that the
// Policy treats the URL as supplied by a server.
func InResponse(client *fetch.Client, resp *fetch.Response) iter.Seq2[Link, error] {
	return convert(links.Extract(client.Scheme, resp.URL, resp.Media, resp.Header, resp.Body))
}

// Supports reports whether documents of a media type can have links.
func Supports(mediaType string) bool { return links.CanExtract(mediaType) }

// convert returns the links of all without the members that only this module
// needs.
func convert(all iter.Seq2[links.Link, error]) iter.Seq2[Link, error] {
	return func(yield func(Link, error) bool) {
		for l, err := range all {
			if !yield(Link{URL: l.URL, Kind: Kind(l.Kind), From: l.From, NoFollow: l.NoFollow}, err) {
				return
			}
		}
	}
}

// browserScheme returns the properties of a special scheme of the URL Standard.
// URLs of other schemes are opaque.
func browserScheme(name string) fetch.Scheme {
	s := fetch.Scheme{Name: name}
	switch name {
	case "http", "https":
		s.Port, s.Traits = 80, scheme.Traits{Web: true, Backslash: true}
	case "ftp":
		s.Port, s.Traits = 21, scheme.Traits{Backslash: true}
	case "file":
		s.Traits.Backslash = true
	case "data":
		s.Traits.Embedded = true
	}
	return s
}
