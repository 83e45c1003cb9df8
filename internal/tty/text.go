package tty

import "unicode/utf8"

// IsText reports whether a document that begins with prefix is one to show on
// a terminal; the more of it, up to some hundred bytes, the surer the answer.
// It is no when a control is found that no text has (NUL above all), or when
// more than three bytes in ten are not UTF-8: a Western text in an older
// charset passes, one of another script would be shown as escapes only.
// A rune that the end of prefix cuts is no fault. Nothing at all is text.
func IsText(prefix []byte) bool {
	foreign := 0
	for rest := prefix; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		switch {
		case r < 0x20 && !isIn("\a\b\t\n\v\f\r\x1b", byte(r)):
			return false
		case r == utf8.RuneError && size == 1 && utf8.FullRune(rest):
			foreign++
		}
		rest = rest[size:]
	}
	return foreign*10 <= len(prefix)*3
}
