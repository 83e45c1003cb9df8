package uri

import (
	"strings"
	"unicode"
)

// Unwrap returns what a person means who wraps a URI as in running text: without
// space around it, without angle brackets or double quotes, without "URL:", and in
// angle brackets without any white space. Elsewhere white space within stays, so
// that the result will not parse.
func Unwrap(text string) string {
	text = strings.TrimSpace(text)
	if n := len(text) - 1; n > 0 {
		switch {
		case text[0] == '<' && text[n] == '>':
			text, _, _ = unbroken(strings.TrimSpace(text[1:n]), false)
		case text[0] == '"' && text[n] == '"':
			text = text[1:n]
		}
	}
	if n := len(label); len(text) > n && isLabel(text[:n]) {
		text = strings.TrimLeftFunc(text[n:], unicode.IsSpace)
	}
	return text
}

const label = "URL:"

func isLabel(s string) bool {
	return strings.EqualFold(s, label) || strings.EqualFold(s, "URI:")
}

// cutLabel returns lead without the label that ends it, nor the space around that.
func cutLabel(lead string) (before string, found bool) {
	lead = strings.TrimRightFunc(lead, unicode.IsSpace)
	if n := len(lead) - len(label); n >= 0 && isLabel(lead[n:]) {
		return strings.TrimRightFunc(lead[:n], unicode.IsSpace), true
	}
	return lead, false
}

// wrapped returns the URI that begins at text[start] and ends where its wrapper
// closes, and the end of the wrapper.
func wrapped(text string, start, colon int, open byte, labelled bool) (f Found, end int, ok bool) {
	marks := "<>"
	if open == '"' {
		marks = `"`
	}
	n := strings.IndexAny(text[colon:], marks)
	if n < 0 || text[colon+n] == '<' {
		return Found{}, 0, false
	}
	written := strings.TrimRightFunc(text[start:colon+n], unicode.IsSpace)
	if strings.ContainsFunc(written, func(r rune) bool { return !visible(r) }) {
		return Found{}, 0, false
	}
	clean, or, ok := unbroken(written, open == '"')
	if !ok {
		return Found{}, 0, false
	}
	u, err := Parse(EscapeNonASCII(clean))
	if err != nil || !labelled && !likely(u) {
		return Found{}, 0, false
	}
	f = Found{URI: u, Start: start, End: start + len(written)}
	if or != clean {
		if o, err := Parse(EscapeNonASCII(or)); err == nil {
			f.Or = o
		}
	}
	return f, colon + n + 1, true
}

// visible reports whether r is what it looks like: space or something seen, no
// control, nothing that turns the direction of the text, no invalid UTF-8.
func visible(r rune) bool {
	return (unicode.IsGraphic(r) || unicode.IsSpace(r)) && r != unicode.ReplacementChar
}

// unbroken returns s without its white space; or lacks the hyphens before line
// breaks too. It is not ok where the white space does not break one URI: around a
// blank line, before the next URI, and in quotes within a line.
func unbroken(s string, quoted bool) (clean, or string, ok bool) {
	if !strings.ContainsFunc(s, unicode.IsSpace) {
		return s, s, true
	}
	ok = true
	var c, o strings.Builder
	for s != "" {
		n := strings.IndexFunc(s, unicode.IsSpace)
		if n < 0 {
			n = len(s)
		}
		piece, rest := s[:n], strings.TrimLeftFunc(s[n:], unicode.IsSpace)
		gap := s[n : len(s)-len(rest)]
		lines := strings.Count(gap, "\n")
		if lines > 1 || quoted && gap != "" && lines == 0 || rest != "" && begins(rest) {
			ok = false
		}
		c.WriteString(piece)
		if lines > 0 {
			piece = strings.TrimSuffix(piece, "-")
		}
		o.WriteString(piece)
		s = rest
	}
	return c.String(), o.String(), ok
}

// begins reports whether s begins with a scheme and "//".
func begins(s string) bool {
	n := run(s[:min(len(s), maxScheme)], 0, schemeChars)
	return n > 0 && alpha.Has(s[0]) && strings.HasPrefix(s[n:], "://")
}
