// Package uri parses, resolves, normalizes, compares and relativizes URIs as
// defined by RFC 3986.
//
// [Parse] parses an absolute URI. [ParseReference] parses a link found in a
// document, and [URI.Resolve] resolves it against the URI of the document.
// [ParseZone] parses text entered by a user. All three are strict, do not
// allocate, and run in time linear in the length of the input.
//
// Unlike in net/url, the components of a URI are methods, such as [URI.Path] and
// [URI.Host]. They return components as written, without decoding. [Unescape] decodes
// a component and [Escape] encodes one for [Build]. [Extract] finds URIs in
// running text, [Guess] parses user input that may lack a scheme, and
// [Repair] encodes invalid characters in user input.
//
// The package distinguishes an undefined component from an empty one. For
// example, "a?" has an empty query and "a" has no query.
//
// A URI may contain a password. The password is hidden when a URI is printed,
// logged or marshaled, and errors of this package do not quote their input.
package uri
