package gopher

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// A form is the data that follows a line: the answers, one or more lines each,
// in the encoding of RFC 1738 3.4.9.
type form struct {
	values []string
	secret []bool
}

func (f *form) add(value string, secret bool) {
	f.values, f.secret = append(f.values, value), append(f.secret, secret)
}

// parseForm reads what stands behind "+" and a TAB in a URL:
//
//	1 CRLF "+-1" CRLF *( value CRLF ) "." CRLF
//
// It is the one place where a URL may hold CR LF, so nothing but this passes,
// and the data are written anew by encode.
func parseForm(s string) (*form, error) {
	body, ok := strings.CutPrefix(s, "1\r\n+-1\r\n")
	f := &form{}
	for ok {
		value, rest, found := strings.Cut(body, "\r\n")
		if value == "." {
			if found && rest == "" {
				return f, nil
			}
			break
		}
		if ok = found && !unsafe(value); ok {
			f.add(unstuff(value), false)
			body = rest
		}
	}
	return nil, fetch.BadURL.Errorf("malformed form behind a Gopher+ string")
}

// encode writes the data of a form. Where shown is true it is for eyes:
// without passwords.
func (f *form) encode(shown bool) []byte {
	b := []byte("+-1\r\n")
	for i, v := range f.values {
		if shown && f.secret[i] {
			v = fetch.Secret(v).String()
		}
		if v == "." || strings.HasPrefix(v, "..") {
			b = append(b, '.')
		}
		b = append(append(b, v...), "\r\n"...)
	}
	return append(b, ".\r\n"...)
}

// unstuff undoes what encode, and UMN gopherd, do to a line: a dot is put only
// before a line that would be taken for the last one, or for such a line.
func unstuff(line string) string {
	if strings.HasPrefix(line, "..") {
		return line[1:]
	}
	return line
}

// arg is the form as a Step shows it; nothing is known of a nil form.
func (f *form) arg() string {
	if f == nil {
		return ""
	}
	return string(f.encode(true))
}
