package save

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
)

// maxName leaves room for the ".100" of Number.
const maxName = maxBase - len(".100")

// Name returns the name of a local file for a URL, from its raw path: the
// last segment that is not empty, made safe. It is fetch.Usage if there is
// none.
//
// The name is one name in any folder, whatever the server chose: it is never
// hidden, an option, a device or a path, holds neither controls nor quotes
// that a file system forbids, and fits. It reads like the segment: letters,
// digits and printable UTF-8 stand for themselves, even if the URL escapes
// them; what else was escaped stays so, and what would do harm becomes so. A
// name too long ends in "%~" and a digest.
//
// Two segments get one name only if they differ in the escaping alone: in
// that of unreserved characters (RFC 3986, section 6.2.2.2), of "*" and ":",
// or of what should have been escaped.
func Name(path string) (string, error) {
	segment := strings.TrimRight(path, "/")
	segment = segment[strings.LastIndexByte(segment, '/')+1:]
	if segment == "" {
		return "", fetch.Usage.Errorf("the URL names no file: choose a name")
	}
	name := escapeName(segment)
	if last := len(name) - 1; last > 0 && name[last] == '.' {
		name = name[:last] + "%2E"
	}
	if name[0] == '.' || name[0] == '-' || isDevice(name) {
		name = string(escape(nil, name[0])) + name[1:]
	}
	if len(name) > maxName {
		name = shorten(name, maxName, "%~")
	}
	return name, nil
}

const (
	unreserved   = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
	allowedBytes = unreserved + "!$&'()+,;=@" // reserved, with a meaning of their own when not escaped
)

// safe escapes all that does not stand for itself in a name.
func escapeName(segment string) string {
	name := make([]byte, 0, len(segment))
	for i := 0; i < len(segment); {
		c, n := octet(segment[i:])
		switch {
		case c >= utf8.RuneSelf:
			var char [utf8.UTFMax]byte
			size, end := decodeChar(segment[i:], &char)
			if r, _ := utf8.DecodeRune(char[:size]); size > 1 && unicode.IsPrint(r) {
				name = append(name, char[:size]...)
				i += end
				continue
			}
			name = escape(name, c)
		case n == 1 && strings.IndexByte(allowedBytes, c) >= 0, strings.IndexByte(unreserved, c) >= 0:
			name = append(name, c)
		default:
			name = escape(name, c)
		}
		i += n
	}
	return string(name)
}

// octet returns the first octet of s and how many bytes write it.
func octet(s string) (c byte, n int) {
	if s[0] == '%' && len(s) >= 3 && ishex(s[1]) && ishex(s[2]) {
		return unhex(s[1])<<4 | unhex(s[2]), 3
	}
	return s[0], 1
}

// character returns the size of the UTF-8 character at the beginning of s, at
// most 1 if there is none, and the number of bytes of s that write it.
func decodeChar(s string, char *[utf8.UTFMax]byte) (size, end int) {
	for size < len(char) && end < len(s) {
		c, n := octet(s[end:])
		char[size] = c
		size++
		end += n
		if utf8.FullRune(char[:size]) {
			break
		}
	}
	if _, width := utf8.DecodeRune(char[:size]); width != size {
		return 1, end
	}
	return size, end
}

// isDevice reports whether Windows takes name for a device, whatever follows
// its first dot.
func isDevice(name string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch stem {
	case "con", "prn", "aux", "nul", "conin$", "conout$", "clock$":
		return true
	}
	number, ok := strings.CutPrefix(stem, "com")
	if !ok {
		number, ok = strings.CutPrefix(stem, "lpt")
	}
	return ok && utf8.RuneCountInString(number) == 1 && strings.Contains("0123456789¹²³", number)
}

func escape(dst []byte, c byte) []byte {
	const hex = "0123456789ABCDEF"
	return append(dst, '%', hex[c>>4], hex[c&15])
}

func ishex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&7 + 9
}
