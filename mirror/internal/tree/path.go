package tree

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

const (
	maxName   = 200 // maximum bytes of a name, before a Namer appends a suffix
	shortName = 120 // bytes kept of a longer name
	maxPath   = 900 // maximum bytes of a path; with the path of the archive, many systems allow 1024
	cutPath   = 500

	// noHost replaces the host in the path of a URL without a host. No host has
	// this name.
	noHost = "@"
)

// Path returns the preferred path of u, a URL of the scheme s. The path has the
// form SCHEME/HOST[+PORT]/SEGMENTS. These rules and the FileNames of s apply:
//
//   - Letters, digits, "._~@+=,()!-" and printable UTF-8 characters are
//     written unescaped. All other bytes are percent-encoded. Since
//     [NewLayout], names on file servers keep all printable characters that
//     every file system allows, such as spaces.
//   - An empty segment becomes "%". "." and ".." are encoded. The last
//     character is encoded in names that end in a dot and in Windows device
//     names. Since layout 2, a leading "." or "-" is encoded, and the first
//     letter of the name HEAD in upper or lower case, because git reads this
//     file.
//   - A query is appended to the name after "@q=".
//   - A listing is a file in the directory that it lists, with the usual name
//     of its scheme. Listings are URLs that end in "/", URLs that the scheme
//     reports as listings, and all URLs with menu set. If listings of the scheme
//     are pages, only URLs that end in "/" are listings.
//   - A name longer than 200 bytes is shortened to 120 bytes, "~" and a digest.
//     A path longer than 900 bytes is shortened to its first directories and
//     such a name.
//
// Path ignores the userinfo, the fragment and the default port of the scheme.
// It returns a path for every URL.
func Path(s fetch.Scheme, u uri.URI, menu bool) string { return NewLayout.Path(s, u, menu) }

func pathOf(s fetch.Scheme, u uri.URI, menu bool, l Layout) string {
	files, raw := s.Mirror.Files, u.Path()
	if files.Path != nil {
		path, listing := files.Path(u)
		raw, menu = path, menu || listing
	}
	menu = menu && !files.Pages
	raw = strings.TrimPrefix(raw, "/")
	folders, name := "", raw
	if i := strings.LastIndexByte(raw, '/'); i >= 0 {
		folders, name = raw[:i], raw[i+1:]
	}
	p := append(make([]byte, 0, len(raw)+64), l.Name(u.Scheme())...)
	p = append(append(p, '/'), l.guard(host(s, u))...)
	root := len(p)
	if len(folders) < len(raw)-len(name) { // the path has a slash
		for segment := range strings.SplitSeq(folders, "/") {
			p = append(append(p, '/'), l.guard(l.escape(segment, files.Native))...)
		}
	}
	own := name == "" || menu
	if name = l.escape(name, files.Native); own {
		if name != "" {
			p = append(append(p, '/'), l.guard(name)...)
		}
		name = listing(s)
	}
	if q, ok := u.Query(); ok {
		name += "@q=" + escape(q)
	}
	if own && isListing(name) { // the name may begin with a dot
		name = guard(name)
	} else {
		name = l.guard(name)
	}
	p = append(append(p, '/'), name...)
	if len(p) <= maxPath {
		return string(p)
	}
	return shortenPath(string(p), root)
}

// Name returns a file name for text. It applies the rules of [Path] for one
// segment.
func Name(text string) string { return NewLayout.Name(text) }

// listing returns the file name of a listing, which depends on the scheme.
func listing(s fetch.Scheme) string { return cmp.Or(escape(s.Mirror.Files.Listing), ".listing") }

// ListingName removes the query from the file name of a listing. For example,
// it returns ".gophermap" for ".gophermap@q=x". It returns "" for other names,
// and for listings such as index.html.
func ListingName(name string) string {
	for _, own := range []string{".gophermap", ".overview", ".listing"} {
		if name == own || strings.HasPrefix(name, own+"@q=") {
			return own
		}
	}
	return ""
}

// host returns the directory name for the host and port of u, such as
// "example.org+8080". An IPv6 address begins with "[", and "-" replaces each
// colon.
func host(s fetch.Scheme, u uri.URI) string {
	name := strings.ToLower(u.Host())
	switch {
	case u.HostKind() == uri.IPv6:
		name = "[" + escape(strings.ReplaceAll(strings.Trim(name, "[]"), ":", "-")) + "]"
	case name != "":
		name = strings.ReplaceAll(escape(name), "+", "%2B")
	default:
		name = cmp.Or(escape(s.Mirror.Files.Host), noHost)
	}
	if port, ok := portNumber(s, u); ok {
		name += "+" + port
	}
	return name
}

// portNumber returns the port of u. The result ok is false if u has the default
// port of the scheme.
func portNumber(s fetch.Scheme, u uri.URI) (string, bool) {
	port, _ := u.Port()
	port = strings.TrimLeft(port, "0")
	if port == "" || s.Port != 0 && port == decimal(s.Port) {
		return "", false
	}
	return port, true
}

// shortenPath shortens a path that is too long. It keeps as many directories as
// possible and adds a name with the digest of the path. It always keeps the
// first root bytes, which are complete directory names.
func shortenPath(path string, root int) string {
	end := root
	for i := root + 1; i < min(len(path), cutPath); i++ {
		if path[i] == '/' {
			end = i
		}
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	return path[:end] + "/" + truncateName(name, min(len(name), shortName)) + "~" + digest(path)
}

// digest returns the first 16 hexadecimal digits of the SHA-256 digest of text.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
