// Package links finds what a document leads to: pages, what pages need to be
// shown, style sheets, sitemaps and the Link field of a response.
package links
