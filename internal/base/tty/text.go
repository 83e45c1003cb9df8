package tty

import "unicode/utf8"

// Clip truncates a text to the given number of characters, for a message.
func Clip(text string, limit int) string {
	n := 0
	for i := range text {
		if n++; n > limit {
			return text[:i] + "…"
		}
	}
	return text
}

// IsText reports whether a document that starts with prefix can be displayed on
// a terminal. A prefix of some hundred bytes gives a reliable result. IsText
// returns false if prefix contains a control character that does not occur in
// text, such as NUL. It also returns false if more than 30 % of the bytes are not
// UTF-8. Western text in older charsets is therefore accepted. A rune may be
// incomplete at the end of prefix. An empty prefix is text.
func IsText(prefix []byte) bool {
	foreign := 0
	for rest := prefix; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		switch {
		case r < 0x20 && !containsByte("\a\b\t\n\v\f\r\x1b", byte(r)):
			return false
		case r == utf8.RuneError && size == 1 && utf8.FullRune(rest):
			foreign++
		}
		rest = rest[size:]
	}
	return foreign*10 <= len(prefix)*3
}
