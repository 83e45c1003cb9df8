package uri

import (
	"bytes"
	"strconv"
	"strings"
)

// A Level selects the rules that [URI.Normalize] applies (RFC 3986 section
// 6.2).
type Level uint8

const (
	Syntax   Level = iota // section 6.2.2: case, percent-encoding, dot segments
	ByScheme              // also section 6.2.3: default ports, empty paths
)

// String returns the name of the level.
func (l Level) String() string {
	switch l {
	case Syntax:
		return "syntax"
	case ByScheme:
		return "scheme"
	}
	return "unknown"
}

// Normalize returns the normal form of u at level l. It removes dot segments
// from absolute paths of URIs that have a scheme or an authority. The letter
// case of a zone identifier is kept, and that of a content identifier in base 58
// in an ipfs URI.
//
// At level ByScheme, Normalize also removes an empty port and the [DefaultPort]
// of the scheme. In http, https, ws, wss, ftp, gopher, gemini and spartan URIs
// with an authority, an empty path becomes "/". "file:/a" and
// "file://localhost/a" become "file:///a".
func (u URI) Normalize(l Level) URI {
	if u.IsZero() {
		return u
	}
	p := u.Parts()
	p.Scheme = strings.ToLower(p.Scheme)
	p.Userinfo = normalizeEncoding(p.Userinfo)
	if keepsCase(p) {
		p.Host = normalizeEncoding(p.Host)
	} else {
		p.Host = normalizeHost(p.Host)
	}
	if l == ByScheme {
		p = p.normalizeFileHost()
	}
	p.Path = normalizePath(p)
	p.Query = normalizeEncoding(p.Query)
	p.Fragment = normalizeEncoding(p.Fragment)
	if l == ByScheme {
		p = p.normalizeByScheme()
	}
	if p == u.Parts() {
		return u
	}
	return u.rebuild(p)
}

// Equivalent reports whether a and b have the same normal form at level l.
func Equivalent(a, b URI, l Level) bool {
	return a == b || a.Normalize(l) == b.Normalize(l)
}

// normalizeFileHost removes the host "localhost" from a file URI and adds an
// empty authority to a file URI without one (RFC 8089 section 2).
func (p Parts) normalizeFileHost() Parts {
	switch {
	case p.Scheme != "file" || p.HasUserinfo || p.Port != "":
	case p.Host == "localhost":
		p.Host = ""
	case !p.HasAuthority && strings.HasPrefix(p.Path, "/"):
		p.HasAuthority = true
	}
	return p
}

func (p Parts) normalizeByScheme() Parts {
	if port, ok := DefaultPort(p.Scheme); p.Port == "" || ok && p.Port == strconv.Itoa(int(port)) {
		p.Port, p.HasPort = "", false
	}
	if p.HasAuthority && p.Path == "" {
		switch p.Scheme {
		case "http", "https", "ws", "wss", "ftp", "gopher", "gemini", "spartan":
			p.Path = "/"
		}
	}
	return p
}

func normalizePath(p Parts) string {
	path := normalizeEncoding(p.Path)
	if path == "" || path[0] != '/' || p.Scheme == "" && !p.HasAuthority {
		return path
	}
	if p.HasAuthority && !strings.Contains(path, "/.") { // no dot segments
		return path
	}
	b := appendWithoutDots(make([]byte, 0, len(path)), path)
	if !p.HasAuthority && bytes.HasPrefix(b, []byte("//")) {
		return "/." + string(b)
	}
	return string(b)
}

// keepsCase reports whether the host is a content identifier in base 58, in which
// upper and lower case differ.
func keepsCase(p Parts) bool {
	return p.Scheme == "ipfs" && (strings.HasPrefix(p.Host, "Qm") || strings.HasPrefix(p.Host, "z"))
}

// normalizeHost converts host to lower case. A zone identifier keeps its case.
func normalizeHost(host string) string {
	host, zone := normalizeEncoding(host), ""
	if strings.HasPrefix(host, "[") {
		if i := strings.IndexByte(host, '%'); i >= 0 {
			host, zone = host[:i], host[i:]
		}
	}
	if strings.IndexFunc(host, func(r rune) bool { return 'A' <= r && r <= 'Z' }) < 0 {
		return host + zone
	}
	b := []byte(host)
	for i := 0; i < len(b); i++ {
		if b[i] == '%' {
			i += 2
		} else if 'A' <= b[i] && b[i] <= 'Z' {
			b[i] |= 0x20
		}
	}
	return string(b) + zone
}

// normalizeEncoding normalizes the percent-encodings in s (RFC 3986 section
// 6.2.2). It decodes unreserved characters and writes the hexadecimal digits of
// the other percent-encodings in upper case.
func normalizeEncoding(s string) string {
	i := strings.IndexByte(s, '%')
	if i < 0 {
		return s
	}
	b := append(make([]byte, 0, len(s)), s[:i]...)
	for ; i < len(s); i++ {
		if s[i] != '%' {
			b = append(b, s[i])
			continue
		}
		c := unhex(s[i+1])<<4 | unhex(s[i+2])
		if Unreserved.Has(c) {
			b = append(b, c)
		} else {
			b = append(b, '%', upperHex[c>>4], upperHex[c&15])
		}
		i += 2
	}
	return string(b)
}
