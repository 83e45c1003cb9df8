package archive

import (
	"context"
	"encoding/hex"

	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/save"
)

// Label names the files of an item that are not in the tree yet.
func Label(k frontier.Key) string { return hex.EncodeToString(k[:]) }

// findParts takes note of the parts that an earlier process left.
func (a *Archive) findParts() error {
	names, err := a.store.Parts()
	for _, name := range names {
		a.parts.Store(name, true)
	}
	return err
}

// DropParts removes the parts of objects that are retrieved, gone or out of
// scope by now. Another run may request URLs that failed or are pending.
func (a *Archive) DropParts(ctx context.Context) error {
	names, err := a.store.Parts()
	if err != nil || len(names) == 0 {
		return err
	}
	wanted := map[string]bool{}
	for _, s := range []frontier.State{frontier.Dead, frontier.Pending} {
		for it, err := range a.frontier.Items(ctx, s) {
			if err != nil {
				return err
			}
			wanted[Label(it.Key)] = true
		}
	}
	for _, name := range names {
		if wanted[name] {
			continue
		}
		if err := a.store.Drop(name); err != nil {
			return err
		}
	}
	return nil
}

// HasPart reports whether an earlier visit left a part of the body of an item.
func (a *Archive) HasPart(it frontier.Item) bool {
	_, left := a.parts.Load(Label(it.Key))
	return left
}

// Part opens the part of the body of an item, which is empty if there is none.
// Weak is that of save.Options.
func (a *Archive) Part(it frontier.Item, weak bool) (*save.File, error) {
	return a.store.Part(Label(it.Key), it.URL, weak)
}

// LeavePart leaves p, which may be nil, for another visit. If err says that
// nothing joins it, p is removed: else every visit would end like this one.
func (a *Archive) LeavePart(it frontier.Item, p *save.File, err error) {
	switch {
	case p == nil:
	case useless(err):
		a.parts.Delete(Label(it.Key))
		p.Abort()
	default:
		p.Close()
	}
}

// SpoolPart returns a Spool for a body whose beginning outlives this process.
// The body continues p at the offset that state names.
func (a *Archive) SpoolPart(it frontier.Item, p *save.File, state save.State) (*Spool, error) {
	s := a.Spool(Label(it.Key))
	a.parts.Store(s.label, true)
	if err := p.Begin(state); err != nil {
		a.LeavePart(it, p, err)
		return s, restart(err)
	}
	s.part, s.size = p, state.Offset
	return s, nil
}
