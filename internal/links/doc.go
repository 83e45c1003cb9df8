// Package links finds what a document leads to: pages, what pages need to be
// shown, style sheets, sitemaps, feeds and the fields of a response.
//
// Call [Extract] with a response; [Rewrite] makes the copy of a document that
// can be browsed without its server. Both read a stream once, in memory that
// does not grow with it, and take HTML, CSS and XML as browsers do: whatever
// is wrong with a document, what can be read of it is.
package links
