package askform

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// Data contains the answers to a form, which are sent after the request
// line. Each answer has one or more lines, encoded as in RFC 1738 section
// 3.4.9.
type Data struct {
	values []string
	secret []bool
}

func (f *Data) add(value string, secret bool) {
	f.values, f.secret = append(f.values, value), append(f.secret, secret)
}

// ParseData parses the form data after "+" and a TAB in a URL:
//
//	1 CRLF "+-1" CRLF *( value CRLF ) "." CRLF
//
// No other part of a gopher URL may contain CR LF. The parsed values are
// encoded again before they are sent.
func ParseData(s string) (*Data, error) {
	body, ok := strings.CutPrefix(s, "1\r\n+-1\r\n")
	f := &Data{}
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

// Encode returns the form data as sent to the server. If masked is true,
// passwords are replaced, so that the result can be logged.
func (f *Data) Encode(masked bool) []byte {
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

// unstuff removes the dot that Encode and UMN gopherd add to the start of a
// line. They add a dot only to the line "." and to lines that begin with "..".
func unstuff(line string) string {
	if strings.HasPrefix(line, "..") {
		return line[1:]
	}
	return line
}

// StepArg returns the form data as the plan of a request shows it, with masked
// passwords. It returns "" if f is nil.
func (f *Data) StepArg() string {
	if f == nil {
		return ""
	}
	return string(f.Encode(true))
}

// breaksLine reports whether s contains CR, LF or NUL. Servers treat these
// bytes as the end of a line.
func breaksLine(s string) bool { return strings.ContainsAny(s, "\r\n\x00") }
