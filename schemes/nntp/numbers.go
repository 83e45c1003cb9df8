package nntp

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// A numberSource returns the article numbers of a range in ascending order. It
// requests them with several LISTGROUP commands, so that it needs little memory
// for large ranges. If the server does not support LISTGROUP with a range, the
// numberSource returns every number of the range.
type numberSource struct {
	s         *session
	group     string
	from, to  uint64   // range of numbers not yet requested
	unlisted  bool     // LISTGROUP is not supported
	rangeSize uint64   // size of the range in the next LISTGROUP command
	listed    []uint64 // numbers from LISTGROUP not yet returned
}

const (
	initialRangeSize = 1 << 14 // size of the range in the first LISTGROUP command
	maxListed        = 1 << 16 // maximum number of article numbers in memory
)

func newNumberSource(s *session, group string, from, to uint64) *numberSource {
	return &numberSource{
		s:         s,
		group:     group,
		from:      from,
		to:        to,
		unlisted:  !s.caps.supportsRFC3977(),
		rangeSize: initialRangeSize,
	}
}

// errBusy means that LISTGROUP cannot be sent before the responses to all
// earlier commands were read.
var errBusy = errors.New("commands are pending")

// next returns the next article number, or io.EOF after the last number. If
// LISTGROUP must be sent first, but idle is false because other commands are
// pending, next returns errBusy. The lists without a number may together take
// sessions.ReplyTimeout.
func (n *numberSource) next(idle bool) (uint64, error) {
	for start := time.Now(); len(n.listed) == 0; {
		switch {
		case time.Since(start) > sessions.ReplyTimeout:
			return 0, fetch.Timeout.Errorf("stalled: no article number in the last %v", time.Since(start).Round(time.Second))
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

// requestList requests the article numbers of the next part of the range.
func (n *numberSource) requestList() error {
	to := n.to
	if to-n.from >= n.rangeSize {
		to = n.from + n.rangeSize - 1
	}
	arg := locator{first: n.from, last: to}.rangeText()
	if n.from == to {
		arg += "-" + arg // some servers mistake a single number for the name of a group
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

// readList reads the response to LISTGROUP for the numbers up to last. It
// keeps at most maxListed numbers. A later LISTGROUP command requests the dropped
// numbers again.
func (n *numberSource) readList(last uint64) error {
	n.listed = n.listed[:0]
	next := last + 1
	lines := line.NewReader(n.s.newTimedReader(n.s.Lines.Block(0)))
	for {
		text, _, err := lines.ReadLine(line.MaxReplyLine)
		if err == io.EOF {
			break
		}
		if err != nil {
			n.s.Break()
			return truncationFault(sessions.ReplyFault(err))
		}
		number, ok := parseNumber(strings.TrimSpace(string(text)))
		switch {
		case !ok || len(n.listed) > 0 && number <= n.listed[len(n.listed)-1]:
			n.s.Break()
			return fetch.Protocol.Errorf("LISTGROUP: numbers are not in ascending order")
		case number < n.from || number > last || next <= last:
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

// numberAndID returns the article number and the message-id at the start of a
// reply to ARTICLE, HEAD, BODY or STAT.
func numberAndID(r line.Reply) (number uint64, id string) {
	words := strings.SplitN(r.Lines[0], " ", 3)
	number, _ = parseNumber(words[0])
	if len(words) > 1 {
		id = words[1]
	}
	return number, id
}
