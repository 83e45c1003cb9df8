package proxy

import (
	"fmt"
	"strings"
)

// A Challenge is one way to log in that a server offers (RFC 9110 11.3). Its
// words are the server's: unsafe to print raw.
type Challenge struct {
	Scheme string            // in lower case: "basic", "digest"
	Params map[string]string // unquoted, by names in lower case
}

// Answer returns the value of the Authorization or Proxy-Authorization field
// that proves l for a request with this method and target and without a body.
// The scheme must be basic or digest; use counts, from 1, the answers to c.
func (c Challenge) Answer(l Login, method, target string, use int) (string, error) {
	switch c.Scheme {
	case "basic":
		return basic(l)
	case "digest":
		return c.digest(l, method, target, newNonce(), use)
	}
	return "", fmt.Errorf("%w: authentication scheme", ErrOption)
}

// maxChallenges is more than any server has reason to offer.
const maxChallenges = 16

// ParseChallenges reads the values of all WWW-Authenticate or
// Proxy-Authenticate fields, in their order. What cannot be read is passed
// over.
func ParseChallenges(fields []string) (list []Challenge) {
	for _, field := range fields {
		open := false // the last challenge is of this field
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

// set keeps the first of several values for one name.
func (c Challenge) set(name, value string) {
	name = strings.ToLower(name)
	if _, ok := c.Params[name]; !ok && name != "" {
		c.Params[name] = unquote(strings.Trim(value, " \t"))
	}
}

// splitList yields the items between the commas that stand outside quotes.
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

// cutToken cuts a token and the blanks behind it off s.
func cutToken(s string) (token, rest string) {
	n := 0
	for n < len(s) && isToken(s[n:n+1]) {
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
