package robots

import "strings"

// match reports whether pattern, in its normal form, matches the beginning of
// path, or all of it where it ends in "$"; "*" is any run of bytes. The first
// place where a piece between two stars fits is always as good as a later one,
// so nothing is tried twice.
func match(pattern, path string) bool {
	pattern, whole := strings.CutSuffix(pattern, "$")
	first, pattern, stars := strings.Cut(pattern, "*")
	path, ok := strings.CutPrefix(path, first)
	if !ok || !stars {
		return ok && (!whole || path == "")
	}
	for {
		piece, after, more := strings.Cut(pattern, "*")
		if !more && whole {
			return strings.HasSuffix(path, piece)
		}
		at := strings.Index(path, piece)
		if at < 0 {
			return false
		}
		if !more {
			return true
		}
		path, pattern = path[at+len(piece):], after
	}
}

// normalPattern is the normal form of a pattern, in which "*" and a "$" at the
// end mean something; the literal ones are written %2A and %24 (RFC 9309
// 2.2.3).
func normalPattern(s string) string {
	body, whole := strings.CutSuffix(s, "$")
	body = normal(body, "*")
	if whole {
		body += "$"
	}
	return body
}

// normalPath is the normal form of the path and query of a URL.
func normalPath(s string) string { return normal(s, "") }

// normal makes equal what RFC 9309 2.2.2 calls equal: what needs no encoding is
// decoded, and what no URI can hold is encoded, as is a "%" that begins no
// encoding, a "$", and a "*" unless keep has it. In a query ":", "/", "?" and "@" are the same encoded and not, as in
// the examples there.
func normal(s, keep string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	query := false
	for i := 0; i < len(s); i++ {
		c, plain := s[i], false
		if c == '%' && i+2 < len(s) && unhex(s[i+1]) < 16 && unhex(s[i+2]) < 16 {
			c = unhex(s[i+1])<<4 | unhex(s[i+2])
			plain = unreserved(c) || query && strings.IndexByte(":/?@", c) >= 0
			i += 2
		} else {
			plain = unreserved(c) || strings.IndexByte(":/?#[]@!&'()+,;="+keep, c) >= 0
			query = query || c == '?'
		}
		if plain {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

// unhex is the value of a hexadecimal digit, or 16.
func unhex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 16
}

func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}
