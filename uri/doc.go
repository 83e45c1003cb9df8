// Package uri parses, resolves, normalises, compares and relativises URIs as
// RFC 3986 defines them.
//
// Call [Parse] for an absolute URI, [ParseReference] for a link found in a
// document (then [URI.Resolve] it against the document's URI), and [ParseZone]
// for what a person typed. All are strict, do not allocate, and take time linear
// in the length of the input. Components are returned as they were written;
// [Unescape] decodes one, and [Escape] prepares one for [Build]. [Extract] finds
// URIs in running text, and [Guess] reads what a person typed without a scheme.
//
// An undefined component and an empty one stay distinct: "a?" has an empty
// query, "a" has none.
//
// A URI may hold a password. It is hidden wherever a URI is printed, logged or
// marshalled, and no error of this package quotes its input.
package uri
