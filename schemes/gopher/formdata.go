package gopher

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// A formData is the data that follows a request line. It contains the answers
// to a form, each as one or more lines, encoded as in RFC 1738 section 3.4.9.
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

// encode returns the encoded form data. If masked is true, passwords are
// replaced for logging.
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

// unstuff removes the dot that encode and UMN gopherd add to a line. They add a
// dot only to the line "." and to lines that begin with "..".
func unstuff(line string) string {
	if strings.HasPrefix(line, "..") {
		return line[1:]
	}
	return line
}

// stepArg returns the form data for a Step, with passwords masked. It returns
// "" for nil.
func (f *formData) stepArg() string {
	if f == nil {
		return ""
	}
	return string(f.encode(true))
}
