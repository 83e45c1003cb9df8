// Package baseuri determines the base URI of a document. Relative references in
// the document are resolved against the base URI.
//
// [Of] returns the base URI (RFC 3986 section 5.1). A base stated in the
// document comes first. Next are the base of the enclosing entity, the URI from
// which the document was retrieved, and a default. Of performs no I/O and
// examines at most [MaxHead] bytes of the document. [ResolveLocation] and
// [ParseAbsolute] parse references sent by a server.
package baseuri

import (
	"strings"

	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/uri/iri"
)

// A Document holds the properties of a document from which [Of] determines the
// base URI. Any field may be zero.
type Document struct {
	Media  string // media type, parameters ignored
	Head   []byte // the first bytes of the decoded body, used only for HTML
	Header Header // header of the MIME entity, the message or the response
	// If HTTP is true, Header is the header of an HTTP response. In HTTP, Of
	// ignores the Content-Location field, because it is not a base URI (RFC
	// 9110 section 8.7).
	HTTP      bool
	Enclosing uri.URI // base URI of the enclosing entity, such as a multipart message
	Retrieved uri.URI // final URI after redirects
	Default   uri.URI // fallback of the application
}

// A Header gives access to the header fields of a document. Get returns the
// first value of a field, or "". The types fetch.Header and
// textproto.MIMEHeader implement Header.
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

// Of returns the base URI of the document d, and the source of the base URI.
// The result has no fragment and no userinfo. If d does not state a valid base
// URI, Of uses the enclosing entity, the retrieved URI or the default.
//
// Of ignores a stated base URI with a scheme such as data, whose URIs have no
// hierarchical path. It ignores a stated file URI unless the document itself is
// local. Therefore, a web page cannot refer to local files.
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

// contextBase returns the base URI of a document that does not state a base URI
// itself. It tries Enclosing, Retrieved and Default, in this order.
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

// statedBase parses ref, the base URI that is stated in a document. It resolves
// a relative reference against b. It accepts a file URI only if local is true.
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

// unfold returns the URI in the value of a header field. It removes white
// space, because a long URI may be folded over several lines. It also removes
// brackets and quotes (RFC 1808).
func unfold(value string) string {
	return uri.Unwrap(strings.Join(strings.Fields(value), ""))
}
