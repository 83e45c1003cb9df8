package httpauth

import (
	"strings"

	"github.com/anyurl/fetch/internal/http1"
)

// A Challenge is an authentication method that a server offers (RFC 9110 11.3).
// Its text comes from the server and may contain control characters.
type Challenge struct {
	Scheme string            // in lower case, for example "basic"
	Params map[string]string // unquoted values, keyed by the name in lower case
}

// maxChallenges limits the challenges of one response.
const maxChallenges = 16

// Parse parses the values of all WWW-Authenticate or Proxy-Authenticate fields.
// It returns the challenges in the order of the fields and skips malformed
// ones.
func Parse(fields []string) (list []Challenge) {
	for _, field := range fields {
		open := false // the last challenge belongs to this field
		for item := range splitList(field) {
			name, rest := cutToken(item)
			if value, ok := strings.CutPrefix(rest, "="); ok && open {
				list[len(list)-1].set(name, value)
				continue
			}
			if name == "" || len(list) == maxChallenges {
				break
			}
			list = append(list, Challenge{strings.ToLower(name), map[string]string{}})
			open = true
			name, rest = cutToken(rest)
			if value, ok := strings.CutPrefix(rest, "="); ok {
				list[len(list)-1].set(name, value)
			}
		}
	}
	return list
}

// set sets a parameter unless it was set before.
func (c Challenge) set(name, value string) {
	name = strings.ToLower(name)
	if _, ok := c.Params[name]; !ok && name != "" {
		c.Params[name] = unquote(strings.Trim(value, " \t"))
	}
}

// splitList yields the items of s, which are separated by commas outside
// quotes.
func splitList(s string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start, quoted := 0, false
		for i := 0; i <= len(s); i++ {
			switch {
			case i == len(s) || s[i] == ',' && !quoted:
				if item := strings.Trim(s[start:i], " \t"); item != "" && !yield(item) {
					return
				}
				start = i + 1
			case s[i] == '"':
				quoted = !quoted
			case s[i] == '\\' && quoted:
				i = min(i+1, len(s)-1)
			}
		}
	}
}

// cutToken returns the token at the start of s, and s after the token and the
// following blanks.
func cutToken(s string) (token, rest string) {
	n := 0
	for n < len(s) && http1.ValidName(s[n:n+1]) {
		n++
	}
	return s[:n], strings.TrimLeft(s[n:], " \t")
}

func unquote(s string) string {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return s
	}
	var b strings.Builder
	for i := 1; i < len(s)-1; i++ {
		if s[i] == '\\' && i+1 < len(s)-1 {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
