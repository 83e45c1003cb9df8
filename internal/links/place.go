package links

import "strings"

// A syntax is how references are written in the value of an attribute.
type syntax uint8

const (
	none       syntax = iota
	plain             // one reference
	candidates        // srcset: references with descriptors
	archives          // a list with commas or spaces
	refresh           // seconds; url=reference
	styles            // CSS
)

// wanted reports whether an attribute is worth keeping: it may refer, or tells
// what others mean.
func wanted(element, key string) bool {
	switch key {
	case "href", "xlink:href", "src", "srcset", "style", "background", "data", "poster", "longdesc", "cite",
		"lowsrc", "dynsrc", "manifest", "archive", "code", "codebase", "imagesrcset",
		"data-src", "data-srcset", "data-original", "data-lazy-src":
		return true
	case "rel", "type":
		return element == "link" || element == "a" || element == "area"
	case "action", "method":
		return element == "form"
	case "name", "property", "itemprop", "http-equiv", "content":
		return element == "meta"
	}
	return false
}

// place says what an attribute of an element refers to, and how it is written.
func place(e *element, key string) (Kind, syntax) {
	switch key {
	case "style":
		return Requisite, styles
	case "background":
		return Requisite, plain
	case "href", "xlink:href":
		return target(e)
	case "src", "data-src", "data-original", "data-lazy-src":
		return source(e.name)
	case "srcset", "data-srcset":
		if e.name == "img" || e.name == "source" {
			return Requisite, candidates
		}
	case "imagesrcset":
		if e.name == "link" {
			return Requisite, candidates
		}
	case "poster":
		if e.name == "video" {
			return Requisite, plain
		}
	case "lowsrc", "dynsrc":
		if e.name == "img" {
			return Requisite, plain
		}
	case "manifest":
		if e.name == "html" {
			return Requisite, plain
		}
	case "data":
		if e.name == "object" && e.get("codebase") == "" {
			return Frame, plain
		}
	case "code", "archive":
		if (e.name == "applet" || e.name == "object" && key == "archive") && e.get("codebase") == "" {
			return Requisite, archives
		}
	case "longdesc", "cite":
		return Page, plain
	case "action":
		if e.name == "form" && (e.get("method") == "" || strings.EqualFold(strings.TrimSpace(e.get("method")), "get")) {
			return Form, plain
		}
	case "content":
		return content(e)
	}
	return Page, none
}

// target is place for href.
func target(e *element) (Kind, syntax) {
	switch e.name {
	case "a", "area":
		return Page, plain
	case "link":
		kind, ok := relation(e.get("rel"), e.get("type"))
		if !ok {
			return Page, none
		}
		return kind, plain
	case "image", "use", "script", "feimage", "mpath", "lineargradient", "radialgradient", "pattern", "filter",
		"textpath", "tref", "cursor", "font-face-uri", "mask", "animate", "set":
		return Requisite, plain
	}
	return Page, none
}

// source is place for src.
func source(element string) (Kind, syntax) {
	switch element {
	case "iframe", "frame", "layer", "ilayer", "portal":
		return Frame, plain
	case "img", "image", "script", "input", "video", "audio", "source", "track", "embed", "bgsound", "amp-img", "xml":
		return Requisite, plain
	}
	return Page, none
}

// content is place for what a meta element says.
func content(e *element) (Kind, syntax) {
	if strings.EqualFold(strings.TrimSpace(e.get("http-equiv")), "refresh") {
		return Page, refresh
	}
	name := e.get("property") + e.get("name") + e.get("itemprop")
	switch strings.ToLower(name) {
	case "og:image", "og:image:url", "og:image:secure_url", "og:video", "og:video:url", "og:video:secure_url", "og:audio",
		"twitter:image", "twitter:image:src", "image", "thumbnailurl", "msapplication-tileimage", "msapplication-config":
		return Requisite, plain
	}
	return Page, none
}

// relation says what a link of that relation (RFC 8288) leads to; false: to
// nothing that can be brought.
func relation(rel, mediaType string) (Kind, bool) {
	kind := Page
	for word := range strings.FieldsSeq(strings.ToLower(rel)) {
		switch word {
		case "preconnect", "dns-prefetch", "pingback", "webmention", "hub", "shortlink-id":
			return kind, false
		case "stylesheet", "icon", "apple-touch-icon", "apple-touch-icon-precomposed", "apple-touch-startup-image", "mask-icon",
			"fluid-icon", "image_src", "preload", "modulepreload", "prefetch", "manifest", "fontdef":
			return Requisite, true
		case "sitemap":
			return Sitemap, true
		case "alternate", "feed", "service.feed":
			kind = ofType(mediaType)
		}
	}
	return kind, true
}

// ofType is the kind of a document of that type.
func ofType(mediaType string) Kind {
	bare, _, _ := strings.Cut(strings.ToLower(mediaType), ";")
	switch strings.TrimSpace(bare) {
	case "application/rss+xml", "application/atom+xml", "application/rdf+xml", "text/rss":
		return Feed
	}
	return Page
}
