package archive

import (
	"context"
	"encoding/hex"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/save"
)

// Label returns the name of the temporary files for the URL with the key k.
func Label(k frontier.Key) string { return hex.EncodeToString(k[:]) }

// findParts finds the partial bodies that earlier processes have stored.
func (a *Archive) findParts() error {
	names, err := a.store.Parts()
	for _, name := range names {
		a.parts.Store(name, true)
	}
	return err
}

// DropParts removes the partial bodies that no later run resumes. It keeps the
// partial bodies of URLs that are pending or failed.
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

// HasPart reports whether an earlier visit stored a partial body for the item.
func (a *Archive) HasPart(it frontier.Item) bool {
	_, left := a.parts.Load(Label(it.Key))
	return left
}

// Part opens the partial body of an item. It creates an empty partial body if the
// item has none.
func (a *Archive) Part(it frontier.Item) (*save.File, error) {
	return a.store.Part(Label(it.Key), it.URL)
}

// ReleasePart closes p and keeps its partial body for a later visit. If err
// prevents resuming the partial body, ReleasePart removes it. The parameter p
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

// RejectPart removes the partial body p because of err. It returns the error of
// a visit whose object must be retrieved again from the beginning.
func (a *Archive) RejectPart(it frontier.Item, p *save.File, err error) error {
	a.ReleasePart(it, p, err)
	return restartError(err)
}

// SpoolPart returns a Spool that appends to p, so that a later process can
// resume the body. The field state.Offset is the position of the first new
// byte.
func (a *Archive) SpoolPart(it frontier.Item, p *save.File, state save.State) (*Spool, error) {
	s := a.Spool(Label(it.Key))
	a.parts.Store(s.label, true)
	if err := p.Begin(state); err != nil {
		return s, a.RejectPart(it, p, err)
	}
	s.part, s.size = p, state.Offset
	return s, nil
}
