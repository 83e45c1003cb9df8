package mirrorcmd

import (
	"fmt"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/nntp"
	"github.com/anyurl/fetch/uri"
)

// groupMarks records the last article that a mirror has retrieved from each
// newsgroup.
type groupMarks struct {
	marks  *nntp.Marks
	server string // value of --news-server, for URLs without a host
}

// Mark returns the last article retrieved from the newsgroup at u, as text. The
// result is "" for a new newsgroup.
func (g groupMarks) Mark(u uri.URI) string {
	m := g.marks.Get(g.newsgroup(u))
	if m.Number == 0 {
		return ""
	}
	return fmt.Sprint(m.Number, " ", m.ID)
}

// SetMark records the last article retrieved from the newsgroup at u. The
// argument text is an earlier result of Mark.
func (g groupMarks) SetMark(u uri.URI, text string) {
	var m nntp.Mark
	fmt.Sscan(text, &m.Number, &m.ID) // an empty text results in the zero Mark
	server, group := g.newsgroup(u)
	g.marks.Set(server, group, m)
}

// newsgroup returns the address of the server and the name of the newsgroup at
// u.
func (g groupMarks) newsgroup(u uri.URI) (server, group string) {
	group, _ = uri.Unescape(strings.Trim(u.Path(), "/"))
	if u.Host() == "" {
		if at, err := uri.Parse(g.server); err == nil && at.Host() != "" {
			u = at
		} else if at, err := uri.Parse("nntp://" + g.server + "/"); err == nil {
			u = at
		}
	}
	port, _ := uri.DefaultPort(u.Scheme())
	t, err := fetch.TargetOf(u, port)
	if err != nil {
		return "", group
	}
	return t.Address(), group
}
