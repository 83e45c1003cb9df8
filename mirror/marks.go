package mirror

import "github.com/anyurl/fetch/uri"

// isGroup reports whether u can name a newsgroup: news:comp.lang.c.
func isGroup(u uri.URI) bool { return hearings[u.Scheme()] == heads && !forEver(u) }

// remind tells the driver how far a newsgroup was read: by what was committed,
// not by what was read.
func (m *mirror) remind(v *visit) {
	if m.Marks == nil || !isGroup(v.url) {
		return
	}
	mark := ""
	if v.item.Last != nil {
		mark = v.item.Last.Validator
	}
	m.Marks.SetMark(v.url, mark)
}

// learn asks the driver how far it has read.
func (m *mirror) learn(v *visit) {
	if m.Marks != nil && isGroup(v.url) {
		v.mark = m.Marks.Mark(v.url)
	}
}
