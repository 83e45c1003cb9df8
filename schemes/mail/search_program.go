package mail

import (
	"fmt"
	"slices"
	"strconv"
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
			return t, "", fetch.BadURL.Errorf("%q in a search, outside quotes", r)
		}
	}
	t.quoted = strings.ContainsFunc(t.text, func(r rune) bool { return r >= utf8.RuneSelf })
	return t, rest, nil
}

// literalToken reads "3+}", CR LF and three bytes, which are kept to one line
// as those between quotes are (RFC 5092 11 has an example).
func literalToken(text string) (t token, rest string, err error) {
	size, text, ok := strings.Cut(text, "+}\r\n")
	n, err := strconv.ParseUint(size, 10, 16)
	if !ok || err != nil || int(n) > len(text) {
		return t, "", fetch.BadURL.Errorf("literal in a search that is not {LENGTH+}, CR LF and as many bytes")
	}
	t, rest = token{text[:n], true}, text[n:]
	if strings.ContainsAny(t.text, "\r\n\x00") || !utf8.ValidString(t.text) {
		return t, "", fetch.BadURL.Errorf("literal in a search that is not one line of UTF-8")
	}
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

// wire writes p as the arguments of SEARCH, and where in them the client has to
// wait for the server. Words outside ASCII are literals: non-synchronizing ones
// (RFC 7888) up to the length that the server accepts.
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

// foreign reports whether a word of p is outside ASCII.
func (p program) hasNonASCII() bool {
	return slices.ContainsFunc(p, func(t token) bool { return !isASCII(t.text) })
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// String writes p in one line, for people.
func (p program) String() string {
	var b strings.Builder
	p.write(&b, func(s string) { b.WriteString(quote(s)) })
	return b.String()
}

// join writes p to b, and calls quoted to write what is quoted.
func (p program) write(b *strings.Builder, quoted func(string)) {
	for i, t := range p {
		if i > 0 && t.unquoted() != ")" && p[i-1].unquoted() != "(" {
			b.WriteByte(' ')
		}
		if t.quoted {
			quoted(t.text)
		} else {
			b.WriteString(t.text)
		}
	}
}

// plain is the text of a token that is not quoted.
func (t token) unquoted() string {
	if t.quoted {
		return ""
	}
	return t.text
}

// quote makes s, which has no CR, LF or NUL, a quoted string.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
