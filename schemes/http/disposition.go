package http

import (
	"strings"
	"unicode/utf8"

	"github.com/anyurl/fetch/uri"
)

// Filename returns the file name that a Content-Disposition field proposes
// (RFC 6266 4.3, RFC 8187), or "". It is one name, without a directory and
// without control characters, and neither "." nor ".."; what else a file
// system does not bear is the caller's to see to.
func Filename(disposition string) string {
	plain, extended := "", ""
	for i, item := range splitParams(disposition) {
		name, value, ok := strings.Cut(item, "=")
		name = strings.ToLower(strings.Trim(name, " \t"))
		value = strings.Trim(value, " \t")
		switch {
		case i == 0 && !ok: // the type
		case name == "filename" && plain == "":
			plain = unquote(value)
		case name == "filename*" && extended == "":
			extended = extValue(value)
		}
	}
	if name := baseName(extended); name != "" {
		return name
	}
	return baseName(plain)
}

// splitParams splits at the semicolons outside quotes.
func splitParams(s string) (items []string) {
	start, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"' && (quoted || i > 0 && s[i-1] == '='): // others are no quotes but text
			quoted = !quoted
		case s[i] == '\\' && quoted:
			i++
		case s[i] == ';' && !quoted:
			items, start = append(items, s[start:i]), i+1
		}
	}
	return append(items, s[start:])
}

// unquote takes quotes off; single ones too, as curl does. A backslash quotes
// a quote or a backslash; before anything else it separates directories, as
// servers for Windows mean it.
func unquote(s string) string {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		return s
	}
	var b strings.Builder
	for i := 1; i < len(s) && s[i] != s[0]; i++ {
		if s[i] == '\\' && i+1 < len(s) && (s[i+1] == s[0] || s[i+1] == '\\') {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// extValue is RFC 8187 3.2: charset'language'percent-encoded.
func extValue(s string) string {
	charset, rest, _ := strings.Cut(unquote(s), "'")
	_, rest, ok := strings.Cut(rest, "'")
	text, err := uri.Unescape(rest)
	switch {
	case !ok || err != nil:
		return ""
	case strings.EqualFold(charset, "utf-8") && utf8.ValidString(text):
		return text
	case strings.EqualFold(charset, "iso-8859-1"):
		runes := make([]rune, len(text))
		for i := range len(text) {
			runes[i] = rune(text[i])
		}
		return string(runes)
	}
	return ""
}

// baseName is what follows the last slash or backslash.
func baseName(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		if r < ' ' || 0x7f <= r && r < 0xa0 {
			return -1
		}
		return r
	}, name)
	if name = strings.TrimSpace(name); name == "." || name == ".." {
		return ""
	}
	return name
}
