package uri

import (
	"bytes"
	"strconv"
	"strings"
)

// A Level says how much of RFC 3986 section 6.2 a comparison knows.
type Level uint8

const (
	Syntax   Level = iota // section 6.2.2: case, percent-encoding, dot segments
	ByScheme              // and section 6.2.3: default ports, empty paths
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

// Normalize returns u in the normal form of that level. Dot segments are removed
// from absolute paths only, and only where there is a scheme or an authority. At
// level ByScheme an empty port and that of [DefaultPort] are dropped, and an empty
// path becomes "/" where an authority is followed by one in http and its like;
// "file:/a" and "file://localhost/a" become "file:///a". A zone identifier keeps its case.
func (u URI) Normalize(l Level) URI {
	if u.IsZero() {
		return u
	}
	p := u.Parts()
	p.Scheme = strings.ToLower(p.Scheme)
	p.Userinfo = normalEncoding(p.Userinfo)
	p.Host = normalHost(p.Host)
	if l == ByScheme {
		p = p.ofThisMachine()
	}
	p.Path = normalPath(p)
	p.Query = normalEncoding(p.Query)
	p.Fragment = normalEncoding(p.Fragment)
	if l == ByScheme {
		p = p.byScheme()
	}
	if p == u.Parts() {
		return u
	}
	return u.rebuild(p)
}

// Equivalent reports whether a and b have the same normal form at that level.
func Equivalent(a, b URI, l Level) bool {
	return a == b || a.Normalize(l) == b.Normalize(l)
}

// ofThisMachine writes the three ways to name this machine in a file URI as the
// empty host (RFC 3986 3.2.2, RFC 8089 2).
func (p Parts) ofThisMachine() Parts {
	switch {
	case p.Scheme != "file" || p.HasUserinfo || p.Port != "":
	case p.Host == "localhost":
		p.Host = ""
	case !p.HasAuthority && strings.HasPrefix(p.Path, "/"):
		p.HasAuthority = true
	}
	return p
}

func (p Parts) byScheme() Parts {
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

func normalPath(p Parts) string {
	path := normalEncoding(p.Path)
	if path == "" || path[0] != '/' || p.Scheme == "" && !p.HasAuthority {
		return path
	}
	b := appendWithoutDots(nil, path)
	if !p.HasAuthority && bytes.HasPrefix(b, []byte("//")) {
		return "/." + string(b)
	}
	return string(b)
}

// normalHost lowers the case of all but a zone identifier.
func normalHost(host string) string {
	host, zone := normalEncoding(host), ""
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

// normalEncoding decodes what need not be encoded and writes the rest with
// upper-case digits: RFC 3986 section 6.2.2.1 and 6.2.2.2.
func normalEncoding(s string) string {
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
