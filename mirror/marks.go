package mirror

import "context"

// remind tells the driver how far a newsgroup was read: by what was committed,
// not by what was read.
func (m *mirror) remind(v *visit) {
	if m.Marks == nil || !isGroup(v.scheme, v.url) {
		return
	}
	mark := ""
	if v.item.Last != nil {
		mark = v.item.Last.Validator
	}
	m.Marks.SetMark(v.url, mark)
}

// learn asks the driver how far it has read. The mark stays where it was if
// articles were left out: the next run lists them again.
func (m *mirror) learn(v *visit) {
	if m.Marks == nil || !isGroup(v.scheme, v.url) {
		return
	}
	switch last := v.item.Last; {
	case !v.partial:
		v.mark = m.Marks.Mark(v.url)
	case last != nil:
		v.mark = last.Validator
	}
}

// endGroup adds the rest of the articles, and notes whether any was left out.
func (g *growth) endGroup() error {
	if g.err == nil {
		g.flush()
	}
	dropped, err := g.m.dropped(g.ctx)
	g.v.partial = g.v.cut > 0 || dropped > g.dropped // of another host, perhaps, which does no harm
	return also(g.err, err)
}

// dropped counts what Limits.Queue has kept out.
func (m *mirror) dropped(ctx context.Context) (int64, error) {
	s, err := m.front.Stats(ctx)
	return s.Dropped, err
}
