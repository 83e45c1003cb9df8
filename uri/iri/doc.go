// Package iri converts between URIs and text for people: it parses text that a
// user types and formats URIs for display.
//
// [Parse] parses an IRI (RFC 3987), which must have a scheme. [Guess] accepts
// typed text that may lack one. [ParseReference] parses a link in a document.
// In their results, non-ASCII letters are percent-encoded UTF-8, and a
// non-ASCII host is in its ASCII form (IDNA, RFC 5891 with the mapping of UTS
// 46). [ToASCII] converts the host of a parsed URI.
//
// [Display] formats a URI as one line, so that a user can decide whether to
// trust it. [Segments] returns the same text in parts for terminals with
// styles. [Unicode] decodes a host name.
package iri
