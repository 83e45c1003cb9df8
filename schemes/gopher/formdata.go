package gopher

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// A formData contains the answers to a form, which are sent after the request
// line. Each answer has one or more lines, encoded as in RFC 1738 section
// 3.4.9.
type formData struct {
	values []string
	secret []bool
}

func (f *formData) add(value string, secret bool) {
	f.values, f.secret = append(f.values, value), append(f.secret, secret)
}

// parseFormData parses the form data after "+" and a TAB in a URL:
//
//	1 CRLF "+-1" CRLF *( value CRLF ) "." CRLF
//
// No other part of a gopher URL may contain CR LF. The parsed values are
// encoded again before they are sent.
func parseFormData(s string) (*formData, error) {
	body, ok := strings.CutPrefix(s, "1\r\n+-1\r\n")
	f := &formData{}
	for ok {
		value, rest, found := strings.Cut(body, "\r\n")
		if value == "." {
			if found && rest == "" {
				return f, nil
			}
			break
		}
		if ok = found && !breaksLine(value); ok {
			f.add(unstuff(value), false)
			body = rest
		}
	}
	return nil, fetch.BadURL.Errorf("malformed form data after a Gopher+ string")
}

// encode returns the form data as sent to the server. If masked is true,
// passwords are replaced, so that the result can be logged.
func (f *formData) encode(masked bool) []byte {
	b := []byte("+-1\r\n")
	for i, v := range f.values {
		if masked && f.secret[i] {
			v = fetch.Secret(v).String()
		}
		if v == "." || strings.HasPrefix(v, "..") {
			b = append(b, '.')
		}
		b = append(append(b, v...), "\r\n"...)
	}
	return append(b, ".\r\n"...)
}

// unstuff removes the dot that encode and UMN gopherd add to the start of a
// line. They add a dot only to the line "." and to lines that begin with "..".
func unstuff(line string) string {
	if strings.HasPrefix(line, "..") {
		return line[1:]
	}
	return line
}

// stepArg returns the form data for a [scheme.Step], with masked passwords. It
// returns "" if f is nil.
func (f *formData) stepArg() string {
	if f == nil {
		return ""
	}
	return string(f.encode(true))
}
