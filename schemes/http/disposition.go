package http

import (
	"strings"
	"unicode/utf8"

	"github.com/anyurl/fetch/uri"
)

// Filename returns the file name in a Content-Disposition field (RFC 6266 4.3,
// RFC 8187). It returns "" if the field has no file name. The name contains no
// directory and no control characters, and is neither "." nor "..". The caller
// must replace other names and characters that its file system does not allow.
func Filename(disposition string) string {
	plain, extended := "", ""
	for i, item := range splitParams(disposition) {
		name, value, ok := strings.Cut(item, "=")
		name = strings.ToLower(strings.Trim(name, " \t"))
		value = strings.Trim(value, " \t")
		switch {
		case i == 0 && !ok: // disposition type, such as "attachment"
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

// splitParams splits s at each semicolon that is not inside a quoted string.
func splitParams(s string) (items []string) {
	start, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"' && (quoted || i > 0 && s[i-1] == '='): // any other quote is an ordinary character
			quoted = !quoted
		case s[i] == '\\' && quoted:
			i++
		case s[i] == ';' && !quoted:
			items, start = append(items, s[start:i]), i+1
		}
	}
	return append(items, s[start:])
}

// unquote removes single or double quotes around s, as curl does. A backslash
// escapes only a quote or a backslash. Other backslashes are kept, because
// Windows servers send them as directory separators.
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

// extValue decodes an extended parameter value (RFC 8187 3.2). The value has the
// form charset'language'text with percent-encoded text. extValue returns "" if
// the value is invalid.
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

// baseName returns the part of name after the last slash or backslash. It
// removes control characters.
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
