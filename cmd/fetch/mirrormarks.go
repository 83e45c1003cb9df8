package main

import (
	"fmt"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/nntp"
	"github.com/anyurl/fetch/uri"
)

// groupMarks stores the positions in newsgroups of a mirror by URL.
type groupMarks struct {
	marks  *nntp.Marks
	server string // value of --news-server, for URLs without a host
}

// Mark returns the position in the newsgroup at u as text, or "".
func (g groupMarks) Mark(u uri.URI) string {
	m := g.marks.Get(g.place(u))
	if m.Number == 0 {
		return ""
	}
	return fmt.Sprint(m.Number, " ", m.ID)
}

// SetMark stores the position in the newsgroup at u.
func (g groupMarks) SetMark(u uri.URI, text string) {
	var m nntp.Mark
	fmt.Sscan(text, &m.Number, &m.ID) // an empty text gives the zero Mark
	server, group := g.place(u)
	g.marks.Set(server, group, m)
}

// place returns the server and the name of the newsgroup at u.
func (g groupMarks) place(u uri.URI) (server, group string) {
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
