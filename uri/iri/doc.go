// Package iri converts internationalized URIs (IRIs, RFC 3987) to URIs, and
// formats URIs for display.
//
// [Parse] parses an IRI with a scheme. [Guess] parses text entered by a user,
// in which the scheme may be missing. [ParseReference] parses a link in a
// document. All three return a URI in which non-ASCII letters are percent-encoded
// UTF-8. A non-ASCII host is in its ASCII form (IDNA, RFC 5891 with the mapping
// of UTS 46). [ToASCII] converts the host of a parsed URI.
//
// [Display] formats a URI as one line, so that a user can decide whether to
// trust the URI. [Segments] splits the line into segments that can be styled.
// [Unicode] decodes a host name.
package iri
