package nntp

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/line"
)

// numbers are those of the articles of a group between two bounds. LISTGROUP
// tells them, a part of the range at a time, so that memory stays small however
// large the range is; of a server that does not know it with a range, every
// number may be one.
type numbers struct {
	s        *session
	group    string
	from, to uint64 // what is left behind known
	every    bool   // nobody tells which exist
	span     uint64 // of the next part
	known    []uint64
}

const (
	firstSpan = 1 << 14
	maxKnown  = 1 << 16
)

func newNumbers(s *session, group string, from, to uint64) *numbers {
	return &numbers{s: s, group: group, from: from, to: to, every: !s.caps.modern(), span: firstSpan}
}

// errNotNow: the server must be asked first, and it is busy.
var errNotNow = errors.New("commands are under way")

// next returns the next number, or io.EOF. Only where the server is idle it is
// asked for more.
func (n *numbers) next(idle bool) (uint64, error) {
	for len(n.known) == 0 {
		switch {
		case n.from > n.to:
			return 0, io.EOF
		case n.every:
			n.from++
			return n.from - 1, nil
		case !idle:
			return 0, errNotNow
		}
		if err := n.ask(); err != nil {
			return 0, err
		}
	}
	first := n.known[0]
	n.known = n.known[1:]
	return first, nil
}

// ask learns the numbers of the next part.
func (n *numbers) ask() error {
	to := n.to
	if to-n.from >= n.span {
		to = n.from + n.span - 1
	}
	arg := locator{first: n.from, last: to}.numbers()
	if n.from == to {
		arg += "-" + arg // a lone number is the name of a group to some
	}
	r, err := n.s.ask("LISTGROUP", n.group, arg)
	switch {
	case err != nil:
		return cut(err)
	case r.Code == 500 || r.Code == 501 || r.Code == 503:
		n.every = true
		return nil
	case r.Code != 211:
		return refused("LISTGROUP", r)
	}
	return n.read(to)
}

// read reads the answer of LISTGROUP for what is left up to to. Numbers beyond
// what memory is meant for are asked for again.
func (n *numbers) read(to uint64) error {
	n.known = n.known[:0]
	next := to + 1
	lines := line.NewReader(n.s.paced(n.s.Lines.Block(0)))
	for {
		text, _, err := lines.ReadLine(line.MaxReplyLine)
		if err == io.EOF {
			break
		}
		if err != nil {
			n.s.Break()
			return cut(replyFault(err))
		}
		number, ok := parseNumber(strings.TrimSpace(string(text)))
		switch {
		case !ok || len(n.known) > 0 && number <= n.known[len(n.known)-1]:
			n.s.Break()
			return fetch.Protocol.Errorf("LISTGROUP: not a list of rising numbers")
		case number < n.from || number > to || next <= to:
		case len(n.known) == maxKnown:
			next = number
		default:
			n.known = append(n.known, number)
		}
	}
	n.from = next
	switch {
	case len(n.known) < maxKnown/8 && n.span < 1<<62:
		n.span *= 2
	case len(n.known) > maxKnown/2:
		n.span = max(n.span/2, firstSpan)
	}
	return nil
}

func formatNumber(n uint64) string { return strconv.FormatUint(n, 10) }

// numberAndID reads "NUMBER ID ..." of the answers to ARTICLE and its kin.
func numberAndID(r line.Reply) (number uint64, id string) {
	words := strings.SplitN(r.Lines[0], " ", 3)
	number, _ = parseNumber(words[0])
	if len(words) > 1 {
		id = words[1]
	}
	return number, id
}
