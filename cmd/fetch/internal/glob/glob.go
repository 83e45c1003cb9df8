// Package glob expands the URL globs of curl: sets such as {a,b}, and ranges
// such as [1-9], [001-100:2] and [a-z].
//
// Text in brackets or braces that has neither form is literal, such as [], [id],
// [::1], [2020-01-01] and {id}. A backslash makes a following bracket, brace or
// comma literal.
package glob

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// maxGlobs limits the number of globs in a pattern.
const maxGlobs = 100

// A Pattern is text with globs. Its size does not depend on the number of
// expansions.
type Pattern struct {
	parts []part
	globs int
	count int64
}

// A part is a literal text or a glob.
type part struct {
	count int64 // number of values, or 0 for a literal text

	text   string   // literal text
	values []string // values of a set

	// The values of a range are first, first+step, first+2*step and so on.
	first, step int64
	width       int  // minimum number of digits
	letters     bool // the values are ASCII letters instead of numbers
}

// value returns the i-th value of a glob, starting at 0.
func (p *part) value(i int64) string {
	switch n := p.first + i*p.step; {
	case p.values != nil:
		return p.values[i]
	case p.letters:
		return string(rune(n))
	default:
		return fmt.Sprintf("%0*d", p.width, n)
	}
}

// An Error is a syntax error in a glob. Its message does not quote the text,
// because a URL may contain a password.
type Error struct {
	Offset int // byte offset of the glob
	Reason string
}

func (e *Error) Error() string {
	return "glob at byte " + strconv.Itoa(e.Offset) + ": " + e.Reason
}

// Parse parses the globs in text. The error is an [*Error].
func Parse(text string) (*Pattern, error) {
	p := &Pattern{count: 1}
	var literal []byte
	for i := 0; i < len(text); {
		var g part
		var err error
		end := i
		switch {
		case isEscape(text, i):
			i++
			end = i
		case text[i] == '{':
			g, end, err = parseSet(text, i)
		case text[i] == '[':
			g, end, err = parseRange(text, i)
		}
		if err != nil {
			return nil, err
		}
		if end == i {
			literal = append(literal, text[i])
			i++
			continue
		}
		if err := p.add(string(literal), g, i); err != nil {
			return nil, err
		}
		literal = literal[:0]
		i = end
	}
	p.parts = append(p.parts, part{text: string(literal)})
	return p, nil
}

// isEscape reports whether text[i] is a backslash that makes the next character
// literal.
func isEscape(text string, i int) bool {
	return text[i] == '\\' && i+1 < len(text) && strings.IndexByte("{}[],", text[i+1]) >= 0
}

// add appends a literal text and the glob g, which starts at the given offset.
func (p *Pattern) add(literal string, g part, offset int) error {
	p.globs++
	high, low := bits.Mul64(uint64(p.count), uint64(g.count))
	if p.globs > maxGlobs || high > 0 || low > math.MaxInt64 {
		return &Error{offset, "too many globs or too many URLs"}
	}
	p.count = int64(low)
	p.parts = append(p.parts, part{text: literal}, g)
	return nil
}

// Globs returns the number of globs in p.
func (p *Pattern) Globs() int { return p.globs }

// Count returns the number of expansions. It is at least 1.
func (p *Pattern) Count() int64 { return p.count }

// Expansion returns the expansion with index i, and the values of the globs in
// it. The value of the last glob changes first, as in curl. The index must be at
// least 0 and less than p.Count().
func (p *Pattern) Expansion(i int64) (text string, values []string) {
	values = make([]string, p.globs)
	n := p.globs
	for k := len(p.parts) - 1; k >= 0; k-- {
		if g := &p.parts[k]; g.count > 0 {
			n--
			values[n] = g.value(i % g.count)
			i /= g.count
		}
	}
	var b strings.Builder
	for k := range p.parts {
		if p.parts[k].count == 0 {
			b.WriteString(p.parts[k].text)
			continue
		}
		b.WriteString(values[n])
		n++
	}
	return b.String(), values
}

// Substitute replaces #1 in name by the first value, #2 by the second value, and
// so on. A number without a value is not replaced.
func Substitute(name string, values []string) string {
	var b strings.Builder
	for {
		front, rest, ok := strings.Cut(name, "#")
		b.WriteString(front)
		if !ok {
			return b.String()
		}
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		if n, err := strconv.Atoi(rest[:digits]); err == nil && 0 < n && n <= len(values) {
			b.WriteString(values[n-1])
		} else {
			b.WriteString("#" + rest[:digits])
		}
		name = rest[digits:]
	}
}
