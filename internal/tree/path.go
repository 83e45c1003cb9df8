package tree

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/anyurl/fetch/uri"
)

const (
	maxName = 200 // bytes of a component, marks of a Namer not counted
	cutName = 120 // what is kept of a longer one
	maxPath = 900 // bytes: with the archive's own path it has to fit in 1024
	cutPath = 500

	// nowhere stands for the host of a URL that has none: no host is
	// called that.
	nowhere = "@"
)

// Path returns where u lies if nothing else is in its way:
// scheme/host[+port]/segments, with what follows from these rules.
//
//   - Letters, digits, "._~@+=,()!-" and printable UTF-8 stand for
//     themselves, however the URL has them; any other byte is percent-encoded.
//   - A segment that is empty is "%"; "." and ".." are encoded, as is the
//     last character of a name that ends in a dot, and of one that is a device
//     to Windows. Since [NewLayout], so is a "." or "-" that a name begins with,
//     and the first letter of a name that is HEAD in any case, as git reads it.
//   - A query is added to the name behind "@q=".
//   - A listing lies in the folder that it lists, under a name that its scheme
//     usually has for it: a URL that ends in "/", a menu of gopher, and what
//     menu says is one. Menu says nothing of http, whose folders end in "/".
//   - A name over 200 bytes keeps 120 and gets "~" and a digest; a path over
//     900 bytes, likewise, becomes a name in the first of its folders.
//
// Userinfo, fragment and the port that the scheme implies leave no trace.
// Path is defined for every value of u and always returns a path.
func Path(u uri.URI, menu bool) string { return NewLayout.Path(u, menu) }

func pathOf(u uri.URI, menu bool, l Layout) string {
	scheme := u.Scheme()
	raw := strings.TrimPrefix(u.Path(), "/")
	switch scheme {
	case "http", "https":
		menu = false
	case "gopher", "gophers":
		menu = menu || strings.HasPrefix(raw, "1")
	case "ftp", "ftps":
		if front, code, ok := cutLast(raw, ";type="); ok && len(code) == 1 && strings.ContainsAny(code, "aidAID") {
			raw = front
			menu = menu || code == "d" || code == "D"
		}
	}
	folders, name := "", raw
	if i := strings.LastIndexByte(raw, '/'); i >= 0 {
		folders, name = raw[:i], raw[i+1:]
	}
	p := append(make([]byte, 0, len(raw)+64), l.Name(scheme)...)
	p = append(append(p, '/'), l.guard(host(u))...)
	root := len(p)
	if len(folders) < len(raw)-len(name) { // there is a slash
		for segment := range strings.SplitSeq(folders, "/") {
			p = append(append(p, '/'), l.Name(segment)...)
		}
	}
	own := name == "" || menu // the name is ours, and may begin with a dot
	if name = escaped(name); own {
		if name != "" {
			p = append(append(p, '/'), l.guard(name)...)
		}
		name = listing(scheme)
	}
	if q, ok := u.Query(); ok {
		name += "@q=" + escaped(q)
	}
	if own {
		name = guard(name)
	} else {
		name = l.guard(name)
	}
	p = append(append(p, '/'), name...)
	if len(p) <= maxPath {
		return string(p)
	}
	return shortened(string(p), root)
}

// Name returns one component of a path for text, by the rules of [Path].
func Name(text string) string { return NewLayout.Name(text) }

// listing is the name of the listing of a folder.
func listing(scheme string) string {
	switch scheme {
	case "http", "https":
		return "index.html"
	case "gopher", "gophers":
		return ".gophermap"
	case "news", "nntp", "snews", "nntps":
		return ".overview"
	}
	return ".listing"
}

// host is the component of host and port: "+" begins a port and "[" an IPv6
// address, whose colons are "-".
func host(u uri.URI) string {
	name := strings.ToLower(u.Host())
	switch {
	case u.HostKind() == uri.IPv6:
		name = "[" + escaped(strings.ReplaceAll(strings.Trim(name, "[]"), ":", "-")) + "]"
	case name != "":
		name = strings.ReplaceAll(escaped(name), "+", "%2B")
	case u.Scheme() == "file":
		name = "localhost"
	default:
		name = nowhere
	}
	if port, ok := number(u); ok {
		name += "+" + port
	}
	return name
}

// number is the port of u, if it is not the one that the scheme implies.
func number(u uri.URI) (string, bool) {
	port, _ := u.Port()
	port = strings.TrimLeft(port, "0")
	known, ok := uri.DefaultPort(u.Scheme())
	if port == "" || ok && port == decimal(known) {
		return "", false
	}
	return port, true
}

// shortened is a path that is too long: folders as far as they fit, and one
// name with the digest of the whole. The folders of root, its first bytes,
// stay.
func shortened(path string, root int) string {
	end := root
	for i := root + 1; i < min(len(path), cutPath); i++ {
		if path[i] == '/' {
			end = i
		}
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	return path[:end] + "/" + cut(name, min(len(name), cutName)) + "~" + digest(path)
}

// digest is 16 hexadecimal digits of the SHA-256 of text.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// cutLast cuts text around the last sep.
func cutLast(text, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(sep):], true
}
