package uri

import (
	"strings"
	"unicode"
)

// Unwrap removes the delimiters that running text may add to a URI: surrounding
// white space, angle brackets or double quotes, and the label "URL:" or "URI:".
// White space inside angle brackets is also removed. Other inner white space is
// kept and makes the URI invalid.
func Unwrap(text string) string {
	text = strings.TrimSpace(text)
	if n := len(text) - 1; n > 0 {
		switch {
		case text[0] == '<' && text[n] == '>':
			text, _, _ = joinLines(strings.TrimSpace(text[1:n]), false)
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

// cutLabel removes the label "URL:" or "URI:" and the white space around it
// from the end of lead, the text before a URI. It also reports whether there
// was such a label.
func cutLabel(lead string) (before string, found bool) {
	lead = strings.TrimRightFunc(lead, unicode.IsSpace)
	if n := len(lead) - len(label); n >= 0 && isLabel(lead[n:]) {
		return strings.TrimRightFunc(lead[:n], unicode.IsSpace), true
	}
	return lead, false
}

// parseWrapped parses the URI in brackets or quotes that starts at text[start].
// It also returns the offset after the closing bracket or quote.
func parseWrapped(text string, start, colon int, open byte, labelled bool) (f Match, end int, ok bool) {
	marks := "<>"
	if open == '"' {
		marks = `"`
	}
	n := strings.IndexAny(text[colon:], marks)
	if n < 0 || text[colon+n] == '<' {
		return Match{}, 0, false
	}
	written := strings.TrimRightFunc(text[start:colon+n], unicode.IsSpace)
	if strings.ContainsFunc(written, func(r rune) bool { return !isVisible(r) }) {
		return Match{}, 0, false
	}
	clean, joined, ok := joinLines(written, open == '"')
	if !ok {
		return Match{}, 0, false
	}
	u, err := Parse(EscapeNonASCII(clean))
	if err != nil || !labelled && !isPlausible(u) {
		return Match{}, 0, false
	}
	f = Match{URI: u, Start: start, End: start + len(written)}
	if joined != clean {
		if o, err := Parse(EscapeNonASCII(joined)); err == nil {
			f.Alternative = o
		}
	}
	return f, colon + n + 1, true
}

// isVisible reports whether r is white space or a printable character. It
// returns false for control characters, bidirectional formatting characters and
// invalid UTF-8.
func isVisible(r rune) bool {
	return (unicode.IsGraphic(r) || unicode.IsSpace(r)) && r != unicode.ReplacementChar
}

// joinLines joins the lines of a URI. clean is s without its white space.
// joined is clean without the hyphens before line breaks. ok is false if s is
// not one URI that was broken into lines. For example, s may contain a blank
// line or the start of another URI.
func joinLines(s string, quoted bool) (clean, joined string, ok bool) {
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
		if lines > 1 || quoted && gap != "" && lines == 0 || rest != "" && hasSchemePrefix(rest) {
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

// hasSchemePrefix reports whether s starts with a scheme and "://".
func hasSchemePrefix(s string) bool {
	n := spanRaw(s[:min(len(s), maxScheme)], 0, schemeChars)
	return n > 0 && alpha.Has(s[0]) && strings.HasPrefix(s[n:], "://")
}
