package tty

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Width returns the number of terminal columns that s occupies. East Asian wide
// characters occupy two columns and combining marks none (Unicode Annex 11).
// The text must be escaped, because control characters have no width.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += RuneWidth(r)
	}
	return n
}

// RuneWidth returns the number of terminal columns that r occupies: 0, 1 or 2.
func RuneWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Cut returns the start of s that fits into the given number of columns. If s
// does not fit, the result ends in "…".
func Cut(s string, columns int) string {
	if len(s) <= columns || Width(s) <= columns {
		return s
	}
	if columns <= 0 {
		return ""
	}
	var start strings.Builder
	used := 0
	for _, r := range s {
		if used += RuneWidth(r); used > columns-1 {
			break
		}
		start.WriteRune(r)
	}
	return start.String() + "…"
}
