// Package iri stands between people and URIs: it reads what they type and writes
// what they are shown.
//
// Call [Guess] for what was typed where a URI is wanted, [Parse] if the scheme has
// to be there, and [ParseReference] for a link in a document. They take IRIs (RFC
// 3987): letters outside ASCII become percent-encoded UTF-8, and in the host what
// DNS knows (IDNA, RFC 5891 with the mapping of UTS 46). A URI of package uri whose
// host holds such letters percent-encoded becomes one for DNS by [ToASCII].
//
// Call [Display], or [Segments] for a terminal with styles, before a person decides
// whether to trust a URI; [Unicode] is for a host alone.
package iri
