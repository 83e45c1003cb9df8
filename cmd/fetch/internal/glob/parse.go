package glob

import (
	"strconv"
	"strings"
)

// parseSet parses a set such as {a,b} that starts at text[start]. It returns the
// offset after the closing brace. If the text is not a set, parseSet returns
// start.
func parseSet(text string, start int) (g part, end int, err error) {
	var value []byte
	for i := start + 1; i < len(text); i++ {
		switch c := text[i]; {
		case isEscape(text, i):
			i++
			value = append(value, text[i])
		case c == '{':
			if len(g.values) > 0 {
				return g, start, &Error{start, "braces must not be nested"}
			}
			return g, start, nil
		case c == '}' && len(g.values) == 0:
			return g, start, nil
		case c == ',' || c == '}':
			g.values = append(g.values, string(value))
			value = value[:0]
			if c == '}' {
				g.count = int64(len(g.values))
				return g, i + 1, nil
			}
		default:
			value = append(value, c)
		}
	}
	if len(g.values) > 0 {
		return g, start, &Error{start, "closing brace is missing"}
	}
	return g, start, nil
}

// parseRange parses a range such as [1-9] or [a-z:2] that starts at text[start].
// It returns the offset after the closing bracket. If the text is not a range,
// parseRange returns start.
func parseRange(text string, start int) (g part, end int, err error) {
	rest := text[start+1:]
	first, rest, ok := cutBound(rest)
	if !ok || !strings.HasPrefix(rest, "-") {
		return g, start, nil
	}
	last, rest, ok := cutBound(rest[1:])
	switch {
	case !ok || isLetter(first[0]) != isLetter(last[0]):
		return g, start, nil
	case rest == "":
		return g, start, &Error{start, "closing bracket is missing"}
	case rest[0] != ']' && rest[0] != ':':
		return g, start, nil
	}
	step := "1"
	if rest[0] == ':' {
		var digits int
		for digits = 1; digits < len(rest) && isDigit(rest[digits]); digits++ {
		}
		step, rest = rest[1:digits], rest[digits:]
	}
	if !strings.HasPrefix(rest, "]") {
		return g, start, &Error{start, "step of a range must be a number before the closing bracket"}
	}
	if g, err = newRange(first, last, step); err != nil {
		return g, start, &Error{start, err.Error()}
	}
	return g, len(text) - len(rest) + 1, nil
}

// maxDigits is the maximum number of digits of a number in a range.
const maxDigits = 19

// newRange returns the range with the given bounds, which are numbers or
// letters.
func newRange(first, last, step string) (g part, err error) {
	end := int64(last[0])
	if g.letters = isLetter(first[0]); g.letters {
		g.first = int64(first[0])
	} else {
		if max(len(first), len(last)) > maxDigits {
			return g, errText("number in a range is too large")
		}
		g.first, err = strconv.ParseInt(first, 10, 64)
		if err == nil {
			end, err = strconv.ParseInt(last, 10, 64)
		}
		if first[0] == '0' {
			g.width = len(first)
		}
	}
	if err == nil {
		g.step, err = strconv.ParseInt(step, 10, 64)
	}
	switch span := end - g.first; {
	case err != nil:
		return g, errText("number in a range is missing or too large")
	case span < 0:
		return g, errText("first value of a range is greater than the last value")
	case g.step == 0:
		return g, errText("step of a range must not be 0")
	case g.step > max(span, 1):
		return g, errText("step is greater than the range")
	default:
		g.count = span/g.step + 1
		if g.count <= 0 {
			return g, errText("range has too many values")
		}
	}
	return g, nil
}

// An errText is an error message.
type errText string

func (e errText) Error() string { return string(e) }

// cutBound splits s after the number or the single ASCII letter at its start.
func cutBound(s string) (bound, rest string, ok bool) {
	if s == "" {
		return "", s, false
	}
	if isLetter(s[0]) {
		return s[:1], s[1:], true
	}
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return s[:n], s[n:], n > 0
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
