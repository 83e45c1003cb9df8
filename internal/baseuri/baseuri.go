// Package base finds the base URI of a document, against which its relative
// references are resolved.
//
// Call [Of] with what is known of the document. The order is that of RFC 3986
// section 5.1: what the document itself says, the entity it is enclosed in, the URI
// by which it was retrieved, a default. Of is pure and reads at most [MaxHead] bytes
// of the document. Call [Location] or [Absolute] for a reference that a server wrote.
package baseuri

import (
	"strings"

	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/uri/iri"
)

// A Document is what is known of a document. Any field may be zero.
type Document struct {
	Media  string // media type, parameters ignored
	Head   []byte // the first bytes of its body, decoded; only HTML is looked into
	Header Header // of the MIME entity, the message or the response
	// HTTP says that Header is that of an HTTP response: its Content-Location
	// tells what was negotiated and is no base (RFC 9110 section 8.7).
	HTTP      bool
	Enclosing uri.URI // base of the entity around it: a message, a multipart
	Retrieved uri.URI // after redirects: what it was in the end retrieved by
	Default   uri.URI // what the application falls back on
}

// A Header gives the first value of a field, or "". fetch.Header is one,
// textproto.MIMEHeader another.
type Header interface{ Get(name string) string }

// An Origin says where a base comes from.
type Origin uint8

const (
	None            Origin = iota // there is no base: references must be absolute
	HTML                          // a base element
	ContentBase                   // the header field of RFC 2110
	ContentLocation               // the header field of RFC 2557
	Enclosing                     // the entity around the document
	Retrieval                     // the URI by which it was retrieved
	Default                       // what the application falls back on
)

// origins has the name of each.
var origins = [...]string{"none", "html base", "content-base", "content-location", "enclosing entity", "retrieval", "default"}

func (o Origin) String() string {
	if int(o) < len(origins) {
		return origins[o]
	}
	return "unknown"
}

// Of returns the base URI of d, without fragment and userinfo, and where it comes
// from. Where d states no base of its own, or none that is a URI, what is around it
// counts. A base that d states is passed over if its scheme has no places to be
// relative to, or is file when that around it is not: a page does not point into the
// file system of its reader.
func Of(d Document) (uri.URI, Origin) {
	b, from := d.outer()
	b = b.WithoutFragment().WithoutUserinfo()
	local := b.Scheme() == "file"
	if u, ok := stated(uri.URI{}, unfold(d.field("Content-Base")), local); ok {
		b, from = u, ContentBase
	} else if !d.HTTP {
		if u, ok := stated(b, unfold(d.field("Content-Location")), local); ok {
			b, from = u, ContentLocation
		}
	}
	if href, ok := element(d.Media, d.Head); ok {
		if u, ok := stated(b, href, local); ok {
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

// outer returns the base that d has without a word of its own.
func (d Document) outer() (uri.URI, Origin) {
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

// stated returns the base that a document states by ref, which may be relative to b
// if there is one. Only a local document may state a file.
func stated(b uri.URI, ref string, local bool) (uri.URI, bool) {
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

// unfold returns the value of a field without its white space, by which a long URI
// is folded, and without the wrapper that RFC 1808 has around it.
func unfold(value string) string {
	return uri.Unwrap(strings.Join(strings.Fields(value), ""))
}
