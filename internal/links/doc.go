// Package links finds the links in documents: pages, page requisites, style
// sheets, sitemaps, feeds, and links in response header fields.
//
// [Extract] yields the links of a response. [Rewrite] copies a document with
// its links replaced, so that the copy can be browsed offline. Both read their
// input once, in memory that does not grow with the document. They parse HTML,
// CSS and XML as browsers do. Malformed input is not an error.
package links
