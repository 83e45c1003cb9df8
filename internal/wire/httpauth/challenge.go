package httpauth

import (
	"strings"

	"github.com/anyurl/fetch/internal/wire/http1"
)

// A Challenge is an authentication method offered by a server, with its
// parameters (RFC 9110 11.3). The strings may contain control characters sent
// by the server.
type Challenge struct {
	Scheme string            // in lower case, for example "basic"
	Params map[string]string // unquoted values, keyed by the name in lower case
}

// maxChallenges is the maximum number of challenges that Parse returns.
const maxChallenges = 16

// Parse parses the values of all WWW-Authenticate or Proxy-Authenticate fields
// of a response. It returns the challenges in their original order and skips
// malformed challenges.
func Parse(fields []string) (list []Challenge) {
	for _, field := range fields {
		open := false // the last challenge in list comes from this field
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

// set stores a parameter of the challenge. If the parameter occurs more than
// once, the first value is kept.
func (c Challenge) set(name, value string) {
	name = strings.ToLower(name)
	if _, ok := c.Params[name]; !ok && name != "" {
		c.Params[name] = unquote(strings.Trim(value, " \t"))
	}
}

// splitList returns an iterator over the items of a comma-separated list. A
// comma inside a quoted string does not separate items.
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

// cutToken splits s after the token at its start. It returns the token, and the
// text after the token without leading spaces and tabs.
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
