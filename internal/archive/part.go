package archive

import (
	"context"
	"encoding/hex"

	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/save"
)

// Label returns the name of the temporary files for the URL with key k.
func Label(k frontier.Key) string { return hex.EncodeToString(k[:]) }

// findParts finds the partial bodies of earlier processes.
func (a *Archive) findParts() error {
	names, err := a.store.Parts()
	for _, name := range names {
		a.parts.Store(name, true)
	}
	return err
}

// DropParts removes the partial bodies of URLs that are neither pending nor
// failed, because no later run resumes them.
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
		if err := a.store.RemovePart(name); err != nil {
			return err
		}
	}
	return nil
}

// HasPart reports whether an earlier visit stored a partial body of the item.
func (a *Archive) HasPart(it frontier.Item) bool {
	_, left := a.parts.Load(Label(it.Key))
	return left
}

// Part opens the partial body of an item, or creates an empty one. The argument
// weak is the option Weak of package save.
func (a *Archive) Part(it frontier.Item, weak bool) (*save.File, error) {
	return a.store.Part(Label(it.Key), it.URL, weak)
}

// ReleasePart closes p and keeps its file for a later visit. If err means that
// the partial body cannot be resumed, ReleasePart removes the file. The file p
// may be nil.
func (a *Archive) ReleasePart(it frontier.Item, p *save.File, err error) {
	switch {
	case p == nil:
	case invalidatesPart(err):
		a.parts.Delete(Label(it.Key))
		p.Abort()
	default:
		p.Close()
	}
}

// SpoolPart returns a Spool that writes to p, so that a later process can
// resume the body. The body starts at state.Offset.
func (a *Archive) SpoolPart(it frontier.Item, p *save.File, state save.State) (*Spool, error) {
	s := a.Spool(Label(it.Key))
	a.parts.Store(s.label, true)
	if err := p.Begin(state); err != nil {
		a.ReleasePart(it, p, err)
		return s, restartError(err)
	}
	s.part, s.size = p, state.Offset
	return s, nil
}
