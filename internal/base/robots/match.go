package robots

import "strings"

// match reports whether pattern matches a prefix of path. If pattern ends in
// "$", it must match the complete path. "*" matches any sequence of bytes.
// pattern and path must be in normal form. match uses the first occurrence of
// each part between two stars. It need not backtrack, because the star after
// the part can match the bytes up to any later occurrence.
func match(pattern, path string) bool {
	pattern, anchored := strings.CutSuffix(pattern, "$")
	first, pattern, stars := strings.Cut(pattern, "*")
	path, ok := strings.CutPrefix(path, first)
	if !ok || !stars {
		return ok && (!anchored || path == "")
	}
	for {
		piece, after, more := strings.Cut(pattern, "*")
		if !more && anchored {
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

// normalizePattern returns the normal form of a pattern. A literal "*" or "$"
// is written %2A or %24 (RFC 9309 section 2.2.3).
func normalizePattern(s string) string {
	body, anchored := strings.CutSuffix(s, "$")
	body = normalize(body, "*")
	if anchored {
		body += "$"
	}
	return body
}

// normalizePath returns the normal form of the path and query of a URL.
func normalizePath(s string) string { return normalize(s, "") }

// normalize returns a form of s that is the same for all equivalent spellings
// (RFC 9309 section 2.2.2). It decodes characters that need no
// percent-encoding. It encodes characters that a URI cannot contain, "$",
// invalid "%" and, unless keep contains it, "*". In a query, ":", "/", "?" and
// "@" are equivalent to their encoded forms, as in the examples of RFC 9309.
func normalize(s, keep string) string {
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

// unhex returns the value of a hexadecimal digit, or 16 if c is not one.
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
