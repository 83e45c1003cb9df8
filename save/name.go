package save

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
)

// maxName is the maximum length of a name in bytes. It leaves space for a
// suffix up to ".100".
const maxName = maxBase - len(".100")

// Name returns a safe local file name for a URL. The argument is the undecoded
// path of the URL. The name is the last nonempty segment of the path, with
// unsafe characters escaped. Name returns fetch.Usage if the path has no such
// segment.
//
// The name is safe in every folder. It does not begin with "." or "-", and it
// is not the name of a device. It contains no separators, no control
// characters, and no characters that file systems forbid. A name that would be
// too long is cut and ends in "%~" and a digest.
//
// Letters, digits and printable UTF-8 characters are not escaped, even if the
// URL escapes them. Other escapes in the URL are kept.
//
// Different segments get the same name only if they differ just in whether
// certain characters are escaped. These are the unreserved characters (RFC 3986
// section 6.2.2.2), "*" and ":", and the characters that a URL must escape.
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
	allowedBytes = unreserved + "!$&'()+,;=@" // reserved characters, which are not equivalent to their escapes
)

// escapeName escapes all bytes of a path segment that are unsafe in a file
// name.
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

// octet decodes the first byte of s, which may be percent-encoded. The result n
// is the length of its encoding in s.
func octet(s string) (c byte, n int) {
	if s[0] == '%' && len(s) >= 3 && ishex(s[1]) && ishex(s[2]) {
		return unhex(s[1])<<4 | unhex(s[2]), 3
	}
	return s[0], 1
}

// decodeChar decodes the first UTF-8 character of s, which may be
// percent-encoded. It returns the number of bytes of the character and the
// length of the encoding in s. If s does not begin with a valid character, the
// size is at most 1.
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

// isDevice reports whether name is the name of a device on Windows, such as con
// or nul.txt. Windows ignores all text after the first dot.
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
