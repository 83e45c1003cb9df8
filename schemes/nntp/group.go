package nntp

import (
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/line"
)

// A group describes the selected newsgroup, as reported in the reply to GROUP
// (RFC 3977 6.1.1): the estimated number of articles, and the lowest and the
// highest article number. In an empty group, high may be lower than low.
type group struct {
	name             string
	count, low, high uint64
	placeholder      bool // the only article is a placeholder, see placeholderSuffix
}

// placeholderSuffix is the end of the reply to GROUP if a leafnode server has
// not yet fetched the newsgroup. The group then contains one placeholder
// article, with a message-id that starts with placeholderIDPrefix. The server
// fetches the group after a client has read the placeholder article.
const (
	placeholderSuffix   = "(pseudo article)"
	placeholderIDPrefix = "<leafnode:placeholder:"
)

// placeholderDoubt is the warning to the user if a group contains only a
// placeholder article. It is reported to the trace and in
// [fetch.Response].Doubt.
const placeholderDoubt = "server has not yet fetched this group and returns a placeholder article: try again later"

func parseGroup(name string, r line.Reply) (group, error) {
	g := group{name: name, placeholder: strings.HasSuffix(r.Lines[0], placeholderSuffix)}
	words := strings.Fields(r.Lines[0])
	for i, to := range []*uint64{&g.count, &g.low, &g.high} {
		if i >= len(words) {
			return g, fetch.Protocol.Errorf("GROUP: reply contains fewer than three numbers")
		}
		n, ok := parseNumber(words[i])
		if !ok {
			return g, fetch.Protocol.Errorf("GROUP: invalid number: %q", words[i])
		}
		*to = n
	}
	return g, nil
}

// intersect returns the part of the range first-last that lies between g.low
// and g.high. It returns false if this part is empty.
func (g group) intersect(first, last uint64) (from, to uint64, ok bool) {
	from, to = max(first, g.low), min(last, g.high)
	return from, to, g.count > 0 && from <= to
}

// header returns the article numbers of the group as header fields, for the
// response to a Stat request.
func (g group) header() fetch.Header {
	number := func(n uint64) string { return strconv.FormatUint(n, 10) }
	return fetch.Header{{Name: "Group", Value: g.name}, {Name: "Count", Value: number(g.count)},
		{Name: "Low", Value: number(g.low)}, {Name: "High", Value: number(g.high)}}
}

// selectGroup selects a newsgroup. If overview is true and the fields of
// overview lines are not yet known, selectGroup requests the list of these
// fields too.
func (s *session) selectGroup(name string, overview bool) (group, error) {
	wantFields := overview && s.fields == nil && (s.caps == nil || s.caps.hasArg("LIST", "OVERVIEW.FMT"))
	pipelined := wantFields && s.caps.supportsRFC3977()
	err := s.AddCommand("GROUP", name)
	if err == nil && pipelined {
		err = s.AddCommand("LIST", "OVERVIEW.FMT")
	}
	if err != nil {
		s.Break()
		return group{}, err
	}
	r, err := s.readReply()
	if err != nil {
		return group{}, err
	}
	if pipelined && !s.IsBroken() {
		err = s.readFields()
	}
	if r.Code != 211 {
		return group{}, statusError("GROUP", r)
	}
	if err != nil {
		return group{}, err
	}
	if wantFields && !pipelined {
		if err := s.AddCommand("LIST", "OVERVIEW.FMT"); err != nil {
			return group{}, err
		}
		if err := s.readFields(); err != nil {
			return group{}, err
		}
	}
	return parseGroup(name, r)
}

// standardFields lists the fields that follow the article number in an overview
// line (RFC 3977 8.3.2).
var standardFields = []string{"subject", "from", "date", "message-id", "references", "bytes", "lines"}

const (
	maxFields = 64 // maximum number of fields in an overview line
	maxField  = 64 // maximum length of a field name in bytes
)

// readFields reads the response to LIST OVERVIEW.FMT (RFC 3977 8.4). If the
// server does not list its fields, readFields assumes the standard fields and
// Xref.
func (s *session) readFields() error {
	r, err := s.readReply()
	if err != nil {
		return err
	}
	s.fields = append(standardFields[:len(standardFields):len(standardFields)], "xref:full")
	if r.Code != 215 {
		return nil
	}
	var fields []string
	valid := true
	err = s.ReadShortBlock(func(text string) {
		text = strings.ToLower(strings.TrimSpace(text))
		name := strings.Trim(text, ":") // "Subject:", ":bytes"
		fields = append(fields, name)
		valid = valid && len(fields) <= maxFields && isField(name)
	})
	if valid && len(fields) >= len(standardFields) {
		s.fields = fields
	}
	return err
}

// isField reports whether name is valid as the name of a header field or a
// metadata item.
func isField(name string) bool {
	if name == "" || len(name) > maxField {
		return false
	}
	return strings.IndexFunc(name, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_' || r == ':')
	}) < 0
}
