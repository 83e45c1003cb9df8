package links

import "strings"

// A syntax describes how an attribute value contains references. For example,
// syntaxSrcset is a list of references with descriptors.
type syntax uint8

const (
	syntaxNone    syntax = iota
	syntaxURL            // a single reference
	syntaxSrcset         // srcset: references with descriptors
	syntaxList           // references separated by commas or spaces
	syntaxRefresh        // seconds; url=reference
	syntaxCSS            // CSS
	syntaxMarkup         // HTML
)

// isRelevant reports whether an attribute is needed to find references. It may
// contain a reference or determine the meaning of another attribute.
func isRelevant(element, key string) bool {
	switch key {
	case "src", "srcset", "style", "background", "data", "poster", "longdesc", "cite",
		"lowsrc", "dynsrc", "manifest", "archive", "code", "codebase", "imagesrcset",
		"data-src", "data-srcset", "data-original", "data-lazy-src", "ping", "srcdoc",
		"formaction", "formmethod":
		return true
	case "ios-src", "environment-image", "skybox-image":
		return element == "model-viewer"
	case "value":
		return element == "param"
	case "rel", "type":
		return localName(element) == "link" || element == "a" || element == "area" || element == "script" && key == "type"
	case "action", "method":
		return element == "form"
	case "attributename":
		return localName(element) == "set" || localName(element) == "animate"
	case "name":
		return element == "meta" || element == "param"
	case "property", "itemprop", "http-equiv", "content":
		return element == "meta"
	}
	return isHref(key)
}

// isHref reports whether an attribute is href, or may be href of XLink. In XML,
// the namespace of XLink can have any prefix.
func isHref(key string) bool { return localName(key) == "href" }

// classifyAttribute returns the link kind and the syntax of the references in
// an attribute of the element e. key is the name of the attribute.
func classifyAttribute(e *element, key string) (Kind, syntax) {
	if isHref(key) {
		return classifyHref(e)
	}
	switch key {
	case "style":
		return Requisite, syntaxCSS
	case "background":
		return Requisite, syntaxURL
	case "src", "data-src", "data-original", "data-lazy-src":
		return classifySrc(e.name)
	case "srcset", "data-srcset":
		if e.name == "img" || e.name == "source" {
			return Requisite, syntaxSrcset
		}
	case "imagesrcset":
		if e.name == "link" {
			return Requisite, syntaxSrcset
		}
	case "poster":
		if e.name == "video" || e.name == "model-viewer" {
			return Requisite, syntaxURL
		}
	case "ios-src", "environment-image", "skybox-image":
		return Requisite, syntaxURL
	case "srcdoc":
		if e.name == "iframe" {
			return Page, syntaxMarkup
		}
	case "ping":
		if e.name == "a" || e.name == "area" {
			return Page, syntaxList
		}
	case "value":
		return classifyParam(e)
	case "lowsrc", "dynsrc":
		if e.name == "img" {
			return Requisite, syntaxURL
		}
	case "manifest":
		if e.name == "html" {
			return Requisite, syntaxURL
		}
	case "data":
		if e.name == "object" && e.get("codebase") == "" {
			return Frame, syntaxURL
		}
	case "code", "archive":
		if (e.name == "applet" || e.name == "object" && key == "archive") && e.get("codebase") == "" {
			return Requisite, syntaxList
		}
	case "longdesc", "cite":
		return Page, syntaxURL
	case "action", "formaction":
		if isAction(e, key) && isGet(e.get(strings.Replace(key, "action", "method", 1))) {
			return Form, syntaxURL
		}
	case "content":
		return classifyMeta(e)
	}
	return Page, syntaxNone
}

// classifyHref returns the link kind and the syntax for an href attribute.
func classifyHref(e *element) (Kind, syntax) {
	switch e.name {
	case "a", "area":
		return Page, syntaxURL
	case "link":
		kind, ok := relationKind(e.get("rel"), e.get("type"))
		if !ok {
			return Page, syntaxNone
		}
		return kind, syntaxURL
	case "image", "use", "script", "feimage", "mpath", "lineargradient", "radialgradient", "pattern", "filter",
		"textpath", "tref", "cursor", "font-face-uri", "mask", "animate", "set":
		return Requisite, syntaxURL
	case "math", "mrow", "mi", "mo", "mn", "mtext", "ms", "mfrac", "msqrt", "mroot", "mstyle", "msub", "msup", "msubsup",
		"munder", "mover", "munderover", "mtable", "mtr", "mtd", "maction", "semantics":
		return Page, syntaxURL
	}
	return Page, syntaxNone
}

// classifySrc returns the link kind and the syntax for a src attribute.
func classifySrc(element string) (Kind, syntax) {
	switch element {
	case "iframe", "frame", "layer", "ilayer", "portal":
		return Frame, syntaxURL
	case "img", "image", "script", "input", "video", "audio", "source", "track", "embed", "bgsound", "amp-img", "xml",
		"model-viewer":
		return Requisite, syntaxURL
	}
	return Page, syntaxNone
}

// isAction reports whether an attribute contains the URL to which a form is sent.
func isAction(e *element, key string) bool {
	return e.name == "form" && key == "action" || (e.name == "button" || e.name == "input") && key == "formaction"
}

// isGet reports whether a form with the given method attribute uses the method
// GET. The default method is GET.
func isGet(method string) bool {
	method = strings.TrimSpace(method)
	return method == "" || strings.EqualFold(method, "get")
}

// classifyParam returns the link kind and the syntax for the value of a param
// element.
func classifyParam(e *element) (Kind, syntax) {
	switch strings.ToLower(e.get("name")) {
	case "movie", "src", "url", "filename", "data", "href":
		return Requisite, syntaxURL
	}
	return Page, syntaxNone
}

// classifyMeta returns the link kind and the syntax for the content of a meta
// element.
func classifyMeta(e *element) (Kind, syntax) {
	if isRefresh(e) {
		return Page, syntaxRefresh
	}
	name := e.get("property") + e.get("name") + e.get("itemprop")
	switch strings.ToLower(name) {
	case "og:image", "og:image:url", "og:image:secure_url", "og:video", "og:video:url", "og:video:secure_url", "og:audio",
		"twitter:image", "twitter:image:src", "image", "thumbnailurl", "msapplication-tileimage", "msapplication-config":
		return Requisite, syntaxURL
	}
	return Page, syntaxNone
}

// isRefresh reports whether a meta element opens another page.
func isRefresh(e *element) bool {
	return strings.EqualFold(strings.TrimSpace(e.get("http-equiv")), "refresh")
}

// relationKind returns the kind of a link with the given rel attribute (RFC
// 8288). It returns false if the link, such as preconnect, has no target to
// fetch.
func relationKind(rel, mediaType string) (Kind, bool) {
	kind := Page
	for word := range strings.FieldsSeq(strings.ToLower(rel)) {
		switch word {
		case "preconnect", "dns-prefetch", "pingback", "webmention", "hub", "shortlink-id":
			return kind, false
		case "stylesheet", "icon", "apple-touch-icon", "apple-touch-icon-precomposed", "apple-touch-startup-image",
			"mask-icon", "fluid-icon", "image_src", "preload", "modulepreload", "prefetch", "manifest", "fontdef":
			return Requisite, true
		case "sitemap":
			return Sitemap, true
		case "alternate", "feed", "service.feed":
			kind = typeKind(mediaType)
		}
	}
	return kind, true
}

// isConnectionHint reports whether a browser opens a connection to the target of
// a link element without requesting it.
func isConnectionHint(e *element) bool {
	return localName(e.name) == "link" && (hasWord(e.get("rel"), "preconnect") || hasWord(e.get("rel"), "dns-prefetch"))
}

// isFetchedEarly reports whether a browser may request or open the target of an
// attribute without an action of the user, and whether this needs no permission
// of the Content-Security-Policy in every browser.
func (w *walk) isFetchedEarly(e *element, key string) bool {
	switch key {
	case "href":
		rel := e.get("rel")
		return e.name == "link" && (hasWord(rel, "prefetch") || hasWord(rel, "prerender") || hasWord(rel, "preload") || hasWord(rel, "modulepreload"))
	case "src", "data":
		return isFrame(e.name, key) && !w.isInert(schemeOf(strings.TrimLeft(e.get(key), whitespace)))
	case "content":
		return e.name == "meta" && isRefresh(e) && strings.Trim(e.get("content"), whitespace+"0123456789.") != ""
	}
	return false
}

// isFrame reports whether an attribute contains the URL of a document that is
// displayed inside the page. Chromium connects to its server before it applies
// the Content-Security-Policy.
func isFrame(element, key string) bool {
	switch element {
	case "iframe", "frame", "embed", "fencedframe", "portal":
		return key == "src"
	case "object":
		return key == "data"
	}
	return false
}

// isAnimatedLink reports whether an SVG animation changes the target of a link. A
// document can define the entities in the name of the attribute.
func isAnimatedLink(e *element) bool {
	name := strings.TrimSpace(e.get("attributename"))
	return (e.name == "set" || e.name == "animate") && (localName(name) == "href" || strings.Contains(name, "&"))
}

// isSpeculationRules reports whether a script element contains rules for pages
// that a browser requests before the user opens them.
func isSpeculationRules(e *element) bool {
	return localName(e.name) == "script" && strings.EqualFold(strings.TrimSpace(e.get("type")), "speculationrules")
}

// typeKind returns the kind of a link to a document with the given media type.
func typeKind(mediaType string) Kind {
	bare, _, _ := strings.Cut(strings.ToLower(mediaType), ";")
	switch strings.TrimSpace(bare) {
	case "application/rss+xml", "application/atom+xml", "application/rdf+xml", "text/rss":
		return Feed
	}
	return Page
}
