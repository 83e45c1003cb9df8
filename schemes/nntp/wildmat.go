package nntp

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/line"
)

// matchWildmat reports whether name matches a wildmat, such as
// "comp.*,!comp.lang.*" (RFC 3977 4.2). The last matching pattern in the
// wildmat decides the result.
func matchWildmat(wildmat, name string) bool {
	matched := false
	for pattern := range strings.SplitSeq(wildmat, ",") {
		pattern, negated := strings.CutPrefix(pattern, "!")
		if matchPattern(pattern, name) {
			matched = !negated
		}
	}
	return matched
}

// matchPattern reports whether name matches a pattern without commas. After a
// mismatch it retries only from the last star, so it takes at most
// len(pattern)*len(name) steps.
func matchPattern(pattern, name string) bool {
	p, n := 0, 0
	star, starEnd := -1, 0
	for n < len(name) {
		size := 1
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, starEnd = p, n
			p++
			continue
		case p < len(pattern) && pattern[p] == '?':
			_, size = utf8.DecodeRuneInString(name[n:])
		case p < len(pattern) && pattern[p] == name[n]:
		case star >= 0: // let the star match one more character
			_, size = utf8.DecodeRuneInString(name[starEnd:])
			starEnd += size
			p, n = star+1, starEnd
			continue
		default:
			return false
		}
		p, n = p+1, n+size
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// newGroupFilter returns a reader for those lines of r that start with the name
// of a newsgroup that matches wildmat.
func newGroupFilter(wildmat string, r io.Reader) io.Reader {
	return &groupFilter{wildmat: wildmat, lines: line.NewReader(r)}
}

type groupFilter struct {
	wildmat string
	lines   *line.Reader
	out     []byte // underlying array of unread
	unread  []byte
}

func (m *groupFilter) Read(p []byte) (int, error) {
	for len(m.unread) == 0 {
		text, _, err := m.lines.ReadLine(line.MaxReplyLine)
		switch {
		case errors.Is(err, line.ErrTooLong):
			return 0, fetch.Protocol.Errorf("line of the listing is longer than %d bytes", line.MaxReplyLine)
		case err != nil:
			return 0, err
		}
		name := text
		if i := bytes.IndexAny(text, " \t"); i >= 0 {
			name = text[:i]
		}
		if matchWildmat(m.wildmat, string(name)) {
			m.out = append(append(m.out[:0], text...), "\r\n"...)
			m.unread = m.out
		}
	}
	n := copy(p, m.unread)
	m.unread = m.unread[n:]
	return n, nil
}
