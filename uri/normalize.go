package uri

import (
	"bytes"
	"strconv"
	"strings"
)

// A Level selects the normalization rules of RFC 3986 section 6.2 to apply.
type Level uint8

const (
	Syntax   Level = iota // section 6.2.2: case, percent-encoding, dot segments
	ByScheme              // section 6.2.3 as well: default ports, empty paths
)

func (l Level) String() string {
	switch l {
	case Syntax:
		return "syntax"
	case ByScheme:
		return "scheme"
	}
	return "unknown"
}

// Normalize returns the normal form of u at level l. Dot segments are removed
// from absolute paths of URIs that have a scheme or an authority. A zone
// identifier keeps its case.
//
// At level ByScheme, Normalize also removes an empty port and the [DefaultPort]
// of the scheme. In http, https, ws, wss, ftp and gopher URIs with an
// authority, an empty path becomes "/". "file:/a" and "file://localhost/a"
// become "file:///a".
func (u URI) Normalize(l Level) URI {
	if u.IsZero() {
		return u
	}
	p := u.Parts()
	p.Scheme = strings.ToLower(p.Scheme)
	p.Userinfo = normalizeEncoding(p.Userinfo)
	p.Host = normalizeHost(p.Host)
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

// normalizeFileHost changes the three spellings of the local machine in a file
// URI to the empty host (RFC 3986 section 3.2.2, RFC 8089 section 2).
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
		case "http", "https", "ws", "wss", "ftp", "gopher":
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
	b := appendWithoutDots(nil, path)
	if !p.HasAuthority && bytes.HasPrefix(b, []byte("//")) {
		return "/." + string(b)
	}
	return string(b)
}

// normalizeHost converts a host to lower case, except for a zone identifier.
func normalizeHost(host string) string {
	host, zone := normalizeEncoding(host), ""
	if strings.HasPrefix(host, "[") {
		if i := strings.IndexByte(host, '%'); i >= 0 {
			host, zone = host[:i], host[i:]
		}
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

// normalizeEncoding decodes percent-encoded unreserved characters. It writes
// other percent-encodings with upper-case digits (RFC 3986 sections 6.2.2.1 and
// 6.2.2.2).
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
