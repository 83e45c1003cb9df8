package gopher

import "unicode/utf8"

// toUTF8 converts s to UTF-8. It treats invalid UTF-8 as ISO 8859-1.
func toUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}
