// Package baseuri determines the base URI of a document, against which its
// relative references are resolved.
//
// [Of] follows the order of RFC 3986 section 5.1: the base stated in the
// document, the base of the enclosing entity, the URI from which the document
// was retrieved, and a default. It performs no I/O and examines at most
// [MaxHead] bytes of the document. [ResolveLocation] and [ParseAbsolute] parse
// references sent by a server.
package baseuri

import (
	"strings"

	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/uri/iri"
)

// A Document holds the properties of a document that determine its base URI.
// Any field may be zero.
type Document struct {
	Media  string // media type, parameters ignored
	Head   []byte // the first bytes of its decoded body, used only for HTML
	Header Header // header of the MIME entity, the message or the response
	// If HTTP is true, Header is the header of an HTTP response. Its
	// Content-Location identifies the negotiated variant and is not a base (RFC
	// 9110 section 8.7).
	HTTP      bool
	Enclosing uri.URI // base URI of the enclosing entity, such as a message or a multipart
	Retrieved uri.URI // final URI after redirects
	Default   uri.URI // fallback of the application
}

// A Header returns the first value of a header field, or "". The types
// fetch.Header and textproto.MIMEHeader implement it.
type Header interface{ Get(name string) string }

// An Origin is the source of a base URI.
type Origin uint8

const (
	None            Origin = iota // no base URI: references must be absolute
	HTML                          // an HTML base element
	ContentBase                   // the header field of RFC 2110
	ContentLocation               // the header field of RFC 2557
	Enclosing                     // the enclosing entity
	Retrieval                     // the URI from which the document was retrieved
	Default                       // the fallback of the application
)

// origins lists the names of the origins.
var origins = [...]string{
	"none", "html base", "content-base", "content-location", "enclosing entity", "retrieval", "default",
}

func (o Origin) String() string {
	if int(o) < len(origins) {
		return origins[o]
	}
	return "unknown"
}

// Of returns the base URI of d without fragment and userinfo, and its origin.
// If d does not state a valid base URI, Of uses the context of d.
//
// Of ignores a stated base URI with a scheme that has no hierarchy, such as
// data. It also ignores a file URI unless the context of d is a file URI, so
// that a web page cannot refer to local files.
func Of(d Document) (uri.URI, Origin) {
	b, from := d.contextBase()
	b = b.WithoutFragment().WithoutUserinfo()
	local := b.Scheme() == "file"
	if u, ok := statedBase(uri.URI{}, unfold(d.field("Content-Base")), local); ok {
		b, from = u, ContentBase
	} else if !d.HTTP {
		if u, ok := statedBase(b, unfold(d.field("Content-Location")), local); ok {
			b, from = u, ContentLocation
		}
	}
	if href, ok := baseElement(d.Media, d.Head); ok {
		if u, ok := statedBase(b, href, local); ok {
			return u, HTML
		}
	}
	return b, from
}

func (d Document) field(name string) string {
	if d.Header == nil {
		return ""
	}
	return d.Header.Get(name)
}

// contextBase returns the base URI that d has if it does not state one.
func (d Document) contextBase() (uri.URI, Origin) {
	for _, o := range []struct {
		base   uri.URI
		origin Origin
	}{{d.Enclosing, Enclosing}, {d.Retrieved, Retrieval}, {d.Default, Default}} {
		if o.base.Scheme() != "" {
			return o.base, o.origin
		}
	}
	return uri.URI{}, None
}

// statedBase returns the base URI for the reference ref in a document. A
// relative reference is resolved against b. A file URI is accepted only if
// local is true.
func statedBase(b uri.URI, ref string, local bool) (uri.URI, bool) {
	if ref == "" {
		return uri.URI{}, false
	}
	u, err := iri.ParseReference(ref)
	if err == nil && u.Scheme() == "" {
		u, err = b.Resolve(u)
	}
	if err != nil {
		return uri.URI{}, false
	}
	switch u.Scheme() {
	case "data", "javascript", "vbscript", "about", "blob", "mailto", "mid", "cid", "news", "urn":
		return uri.URI{}, false
	case "file":
		if !local {
			return uri.URI{}, false
		}
	}
	return u.WithoutFragment().WithoutUserinfo(), true
}

// unfold removes the white space and the wrapper (RFC 1808) from the value of a
// header field. A long URI may be folded over several lines.
func unfold(value string) string {
	return uri.Unwrap(strings.Join(strings.Fields(value), ""))
}
