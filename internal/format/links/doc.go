// Package links finds the links in documents, style sheets, sitemaps, feeds and
// response header fields.
//
// [Extract] returns the links of a response. [Rewrite] copies a document and
// replaces its links, so that the copy can be browsed offline. Both functions
// read their input once and in constant memory. They parse HTML, CSS and XML as
// browsers do. Malformed input is not an error.
package links
