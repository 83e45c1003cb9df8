package mail

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
)

// A program is a search as IMAP writes it: keys, their arguments and
// parentheses (RFC 3501 6.4.4), each of one line, in the order in which they
// stand.
type program []token

// A token is a parenthesis, a word or, where quoted, any text.
type token struct {
	text   string
	quoted bool
}

// maxProgram bounds a search in bytes.
const maxProgram = 8 << 10

// parseProgram reads a search. Which keys it has is the server's affair; that
// nothing but keys is in it is ours.
func parseProgram(text string) (program, error) {
	if len(text) > maxProgram {
		return nil, fetch.BadURL.Errorf("search of %d bytes, longer than %d", len(text), maxProgram)
	}
	if !utf8.ValidString(text) {
		return nil, fetch.BadURL.Errorf("search is not UTF-8")
	}
	var p program
	depth := 0
	for text = strings.TrimLeft(text, " "); text != ""; text = strings.TrimLeft(text, " ") {
		t, rest, err := nextToken(text)
		if err != nil {
			return nil, err
		}
		if t.text == "(" && !t.quoted {
			depth++
		}
		if t.text == ")" && !t.quoted {
			depth--
		}
		if depth < 0 || depth > maxDepth {
			break
		}
		p, text = append(p, t), rest
	}
	if depth != 0 {
		return nil, fetch.BadURL.Errorf("parentheses of a search do not match")
	}
	if len(p) == 0 {
		return nil, fetch.NeedQuery.Errorf("search without words")
	}
	return p, nil
}

// nextToken takes the token that text, which is not empty, begins with.
func nextToken(text string) (t token, rest string, err error) {
	switch c := text[0]; {
	case c == '(' || c == ')':
		return token{text: text[:1]}, text[1:], nil
	case c == '"':
		return quotedToken(text[1:])
	}
	end := strings.IndexAny(text, ` ()"`)
	if end < 0 {
		end = len(text)
	}
	t.text, rest = text[:end], text[end:]
	for _, r := range t.text {
		if r < ' ' || r == 0x7f || r == '{' || r == '\\' || r == '%' {
			return t, "", fetch.BadURL.Errorf("%q in a search, outside quotes", r)
		}
	}
	t.quoted = strings.ContainsFunc(t.text, func(r rune) bool { return r >= utf8.RuneSelf })
	return t, rest, nil
}

// quotedToken reads to the closing quote.
func quotedToken(text string) (t token, rest string, err error) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return token{b.String(), true}, text[i+1:], nil
		case c == '\r', c == '\n', c == 0:
			return t, "", fetch.BadURL.Errorf("CR, LF or NUL in a search")
		case c == '\\' && i+1 < len(text):
			i++
			if text[i] != '"' && text[i] != '\\' {
				return t, "", fetch.BadURL.Errorf("backslash in a search before neither quote nor backslash")
			}
			b.WriteByte(text[i])
		default:
			b.WriteByte(c)
		}
	}
	return t, "", fetch.BadURL.Errorf("quote of a search is not closed")
}

// wire writes p as the arguments of SEARCH. Words outside ASCII are literals
// that do not wait for the server (RFC 7888), where it takes those.
func (p program) wire(literals bool) (string, error) {
	var b strings.Builder
	foreign, charset := false, false
	for i, t := range p {
		if i > 0 && t.plain() != ")" && p[i-1].plain() != "(" {
			b.WriteByte(' ')
		}
		charset = charset || i == 0 && strings.EqualFold(t.text, "CHARSET")
		switch {
		case !t.quoted:
			b.WriteString(t.text)
		case strings.ContainsFunc(t.text, func(r rune) bool { return r >= utf8.RuneSelf }):
			foreign = true
			fmt.Fprintf(&b, "{%d+}\r\n%s", len(t.text), t.text)
		default:
			b.WriteString(quote(t.text))
		}
	}
	switch {
	case !foreign:
		return b.String(), nil
	case !literals:
		return "", fetch.Unsupported.Errorf("server takes no words outside ASCII in a search")
	case charset:
		return b.String(), nil
	}
	return "CHARSET UTF-8 " + b.String(), nil
}

// plain is the text of a token that is not quoted.
func (t token) plain() string {
	if t.quoted {
		return ""
	}
	return t.text
}

// quote makes s, which has no CR, LF or NUL, a quoted string.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
