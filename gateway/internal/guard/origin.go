package guard

import (
	"net/http"
	"strings"
)

// An Origin classifies the page or program that sent a request, as far as its
// header shows.
type Origin uint8

const (
	Foreign    Origin = iota // a page of another site
	Sandboxed                // perhaps a page of an unknown origin, such as a sandboxed page of the gateway
	Own                      // a page of the gateway, or a program that sends no metadata
	Navigation               // the user entered a URL in the browser: this one, or one that redirects to it
)

// OriginOf classifies a request to the server host by its header fields Origin
// (RFC 6454) and Sec-Fetch-Site, Sec-Fetch-Mode and Sec-Fetch-Dest (Fetch
// Metadata). Programs other than browsers do not send these fields.
func OriginOf(method, host string, header http.Header) Origin {
	value := func(name string) string { return strings.ToLower(strings.Join(header.Values(name), ", ")) }
	origin, site := value("Origin"), value("Sec-Fetch-Site")
	_, sent := header["Origin"]
	opaque := origin == "null"
	switch {
	case sent && !opaque && !isOwn(origin, host):
		return Foreign
	case site == "cross-site", opaque && site != "same-origin":
		return Sandboxed
	case site == "none" && method == http.MethodGet && !sent &&
		value("Sec-Fetch-Mode") == "navigate" && value("Sec-Fetch-Dest") == "document":
		return Navigation
	case site == "", site == "none", site == "same-origin":
		return Own
	}
	return Foreign // same-site, or a value of a later specification
}

// IsPart reports whether a browser requests an object for use in a page, such as
// an image or a script. The content of a tab or a frame is no such object. The
// elements object and embed are parts too, because a page can read the size of an
// image in them. Other programs do not send the header field Sec-Fetch-Dest,
// which contains this information.
func IsPart(header http.Header) bool {
	switch strings.ToLower(header.Get("Sec-Fetch-Dest")) {
	case "", "document", "iframe", "frame", "fencedframe":
		return false
	}
	return true
}

// isOwn reports whether an origin has the host and port of this server.
func isOwn(origin, host string) bool {
	scheme, name, _ := strings.Cut(origin, "://")
	return (scheme == "http" || scheme == "https") && name == strings.ToLower(host)
}
