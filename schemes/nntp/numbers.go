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
type numberSource struct {
	s         *session
	group     string
	from, to  uint64 // what is left behind known
	unlisted  bool   // nobody tells which exist
	rangeSize uint64 // of the next part
	listed    []uint64
}

const (
	initialRangeSize = 1 << 14
	maxListed        = 1 << 16
)

func newNumberSource(s *session, group string, from, to uint64) *numberSource {
	return &numberSource{s: s, group: group, from: from, to: to, unlisted: !s.caps.supportsRFC3977(), rangeSize: initialRangeSize}
}

// errNotNow: the server must be asked first, and it is busy.
var errBusy = errors.New("commands are under way")

// next returns the next number, or io.EOF. Only where the server is idle it is
// asked for more.
func (n *numberSource) next(idle bool) (uint64, error) {
	for len(n.listed) == 0 {
		switch {
		case n.from > n.to:
			return 0, io.EOF
		case n.unlisted:
			n.from++
			return n.from - 1, nil
		case !idle:
			return 0, errBusy
		}
		if err := n.requestList(); err != nil {
			return 0, err
		}
	}
	first := n.listed[0]
	n.listed = n.listed[1:]
	return first, nil
}

// ask learns the numbers of the next part.
func (n *numberSource) requestList() error {
	to := n.to
	if to-n.from >= n.rangeSize {
		to = n.from + n.rangeSize - 1
	}
	arg := locator{first: n.from, last: to}.rangeText()
	if n.from == to {
		arg += "-" + arg // a lone number is the name of a group to some
	}
	r, err := n.s.command("LISTGROUP", n.group, arg)
	switch {
	case err != nil:
		return truncationFault(err)
	case r.Code == 500 || r.Code == 501 || r.Code == 503:
		n.unlisted = true
		return nil
	case r.Code != 211:
		return statusError("LISTGROUP", r)
	}
	return n.readList(to)
}

// read reads the answer of LISTGROUP for what is left up to to. Numbers beyond
// what memory is meant for are asked for again.
func (n *numberSource) readList(to uint64) error {
	n.listed = n.listed[:0]
	next := to + 1
	lines := line.NewReader(n.s.newTimedReader(n.s.Lines.Block(0)))
	for {
		text, _, err := lines.ReadLine(line.MaxReplyLine)
		if err == io.EOF {
			break
		}
		if err != nil {
			n.s.Break()
			return truncationFault(replyFault(err))
		}
		number, ok := parseNumber(strings.TrimSpace(string(text)))
		switch {
		case !ok || len(n.listed) > 0 && number <= n.listed[len(n.listed)-1]:
			n.s.Break()
			return fetch.Protocol.Errorf("LISTGROUP: not a list of rising numbers")
		case number < n.from || number > to || next <= to:
		case len(n.listed) == maxListed:
			next = number
		default:
			n.listed = append(n.listed, number)
		}
	}
	n.from = next
	switch {
	case len(n.listed) < maxListed/8 && n.rangeSize < 1<<62:
		n.rangeSize *= 2
	case len(n.listed) > maxListed/2:
		n.rangeSize = max(n.rangeSize/2, initialRangeSize)
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
