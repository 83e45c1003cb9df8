package mail

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
)

// A program is a parsed IMAP search (RFC 3501 6.4.4). Its tokens are search
// keys, arguments and parentheses. No token contains a line break.
type program []token

// A token is a parenthesis, a word or a quoted string.
type token struct {
	text   string
	quoted bool
}

// maxProgram is the maximum length of an IMAP search in bytes.
const maxProgram = 8 << 10

// parseProgram parses an IMAP search. It validates only the syntax of the
// tokens, which prevents the injection of commands. The server validates the
// search keys.
func parseProgram(text string) (program, error) {
	if len(text) > maxProgram {
		return nil, fetch.BadURL.Errorf("search is %d bytes long, more than the limit of %d", len(text), maxProgram)
	}
	if !utf8.ValidString(text) {
		return nil, fetch.BadURL.Errorf("search is not valid UTF-8")
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
		return nil, fetch.BadURL.Errorf("unbalanced parentheses in the search")
	}
	if len(p) == 0 {
		return nil, fetch.NeedQuery.Errorf("search without words")
	}
	return p, nil
}

// nextToken returns the first token of text and the remaining text. The text
// must not be empty.
func nextToken(text string) (t token, rest string, err error) {
	switch c := text[0]; {
	case c == '(' || c == ')':
		return token{text: text[:1]}, text[1:], nil
	case c == '"':
		return quotedToken(text[1:])
	case c == '{':
		return literalToken(text[1:])
	}
	end := strings.IndexAny(text, ` ()"`)
	if end < 0 {
		end = len(text)
	}
	t.text, rest = text[:end], text[end:]
	for _, r := range t.text {
		if r < ' ' || r == 0x7f || r == '{' || r == '\\' || r == '%' {
			return t, "", fetch.BadURL.Errorf("character %q in the search must be quoted", r)
		}
	}
	t.quoted = strings.ContainsFunc(t.text, func(r rune) bool { return r >= utf8.RuneSelf })
	return t, rest, nil
}

// literalToken parses an IMAP literal in a search (RFC 5092 11). The text
// starts after the "{" of the literal, for example "3+}", CR LF and three
// bytes. The three bytes must not contain a line break.
func literalToken(text string) (t token, rest string, err error) {
	size, text, ok := strings.Cut(text, "+}\r\n")
	n, err := strconv.ParseUint(size, 10, 16)
	if !ok || err != nil || int(n) > len(text) {
		return t, "", fetch.BadURL.Errorf("malformed literal in the search: want {LENGTH+}, CR LF and LENGTH bytes")
	}
	t, rest = token{text[:n], true}, text[n:]
	if strings.ContainsAny(t.text, "\r\n\x00") || !utf8.ValidString(t.text) {
		return t, "", fetch.BadURL.Errorf("literal in the search is not a single line of UTF-8")
	}
	return t, rest, nil
}

// quotedToken parses a quoted string that starts after its opening quote.
func quotedToken(text string) (t token, rest string, err error) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return token{b.String(), true}, text[i+1:], nil
		case c == '\r', c == '\n', c == 0:
			return t, "", fetch.BadURL.Errorf("search contains CR, LF or NUL")
		case c == '\\' && i+1 < len(text):
			i++
			if text[i] != '"' && text[i] != '\\' {
				return t, "", fetch.BadURL.Errorf("backslash in the search must precede a quote or a backslash")
			}
			b.WriteByte(text[i])
		default:
			b.WriteByte(c)
		}
	}
	return t, "", fetch.BadURL.Errorf("quoted text in the search has no closing quote")
}

// encode returns the program as arguments of the SEARCH command. Strings with
// characters outside ASCII become literals. If a literal is longer than nonSync
// bytes, the client must wait for a continuation request before it sends the
// literal (RFC 7888). The offsets of these literals are in waits.
func (p program) encode(nonSync int) (text string, waits []int) {
	var b strings.Builder
	if !strings.EqualFold(p[0].text, "CHARSET") && p.hasNonASCII() {
		b.WriteString("CHARSET UTF-8 ")
	}
	p.write(&b, func(s string) {
		switch {
		case isASCII(s):
			b.WriteString(quote(s))
		case len(s) <= nonSync:
			fmt.Fprintf(&b, "{%d+}\r\n%s", len(s), s)
		default:
			fmt.Fprintf(&b, "{%d}\r\n", len(s))
			waits = append(waits, b.Len())
			b.WriteString(s)
		}
	})
	return b.String(), waits
}

// hasNonASCII reports whether a token contains a character outside ASCII.
func (p program) hasNonASCII() bool {
	return slices.ContainsFunc(p, func(t token) bool { return !isASCII(t.text) })
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// String returns the program on one line for display. It must not be sent to a
// server.
func (p program) String() string {
	var b strings.Builder
	p.write(&b, func(s string) { b.WriteString(quote(s)) })
	return b.String()
}

// write writes the tokens of p to b. It calls writeQuoted for each quoted
// string.
func (p program) write(b *strings.Builder, writeQuoted func(string)) {
	for i, t := range p {
		if i > 0 && t.unquoted() != ")" && p[i-1].unquoted() != "(" {
			b.WriteByte(' ')
		}
		if t.quoted {
			writeQuoted(t.text)
		} else {
			b.WriteString(t.text)
		}
	}
}

// unquoted returns the text of t, or "" if t is a quoted string.
func (t token) unquoted() string {
	if t.quoted {
		return ""
	}
	return t.text
}

// quote returns s as an IMAP quoted string. The string s must not contain CR,
// LF or NUL.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
