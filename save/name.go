package save

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
)

// maxName reserves space for the suffix ".100" of Number.
const maxName = maxBase - len(".100")

// Name returns the name of a local file for a URL. It is the last nonempty
// segment of path, the raw path of the URL, with unsafe characters escaped. The
// error is fetch.Usage if the path has no such segment.
//
// The name is safe in every folder: it is not hidden, not an option, not a
// device and not a path. It contains no control characters, and no characters
// that file systems forbid. It is not too long. Letters, digits and printable
// UTF-8 are not escaped, even if the URL escapes them. Other escapes are kept,
// and harmful characters are escaped. A name that would be too long is cut and
// ends in "%~" and a digest.
//
// Two segments have the same name only if they differ in escapes alone. These
// are the escapes of unreserved characters (RFC 3986 section 6.2.2.2), of "*"
// and ":", and of characters that a URL must escape.
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
	allowedBytes = unreserved + "!$&'()+,;=@" // reserved characters, which differ from their escapes
)

// escapeName escapes all bytes of segment that a name must not contain.
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

// octet decodes the first octet of s. N is the length of its encoding in s.
func octet(s string) (c byte, n int) {
	if s[0] == '%' && len(s) >= 3 && ishex(s[1]) && ishex(s[2]) {
		return unhex(s[1])<<4 | unhex(s[2]), 3
	}
	return s[0], 1
}

// decodeChar decodes the first UTF-8 character of s. It returns the size of the
// character, or at most 1 if s has none, and the length of its encoding in s.
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

// isDevice reports whether name is a device on Windows. Windows ignores all
// text after the first dot.
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
