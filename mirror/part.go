package mirror

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/save"
)

// minPart is the size from which what there is of a body that was cut short
// stays, in bytes: the next visit, of the next process too, asks for the rest.
const minPart = 8 << 20

// partName is the name of the part of an item.
func partName(k frontier.Key) string { return hex.EncodeToString(k[:]) }

// findParts notes of which bodies an earlier process left a part.
func (m *mirror) findParts() error {
	names, err := m.store.Parts()
	for _, name := range names {
		m.parts.Store(name, true)
	}
	return err
}

// dropParts removes the parts of objects that are retrieved, gone or out of
// scope by now. Another run may request URLs that failed or are pending.
func (m *mirror) dropParts(ctx context.Context) error {
	names, err := m.store.Parts()
	if err != nil || len(names) == 0 {
		return err
	}
	wanted := map[string]bool{}
	for _, s := range []frontier.State{frontier.Dead, frontier.Pending} {
		for it, err := range m.front.Items(ctx, s) {
			if err != nil {
				return err
			}
			wanted[partName(it.Key)] = true
		}
	}
	for _, name := range names {
		if wanted[name] {
			continue
		}
		if err := m.store.Drop(name); err != nil {
			return err
		}
	}
	return nil
}

func (m *mirror) part(v *visit) (*save.File, error) {
	return m.store.Part(partName(v.item.Key), v.item.URL, v.scheme.Traits.Weak)
}

// left opens what an earlier visit left of v, and has req ask for the rest; nil
// is nothing. The record of an http exchange is of one answer alone.
func (m *mirror) left(v *visit, req *fetch.Request) (*save.File, error) {
	name := partName(v.item.Key)
	if _, left := m.parts.Load(name); !left || v.heard.how == fetch.RecordWire {
		return nil, nil
	}
	p, err := m.part(v)
	if err != nil {
		return nil, err
	}
	if s := p.State(); s.Offset > 0 {
		req.Range, req.IfSame, req.IfNot = fetch.Range{First: s.Rest()}, s.Validator, ""
	}
	return p, nil
}

// useless reports whether nothing joins a part after err: there is no object any
// more, or another one, or the server cannot go on within it.
func useless(err error) bool {
	return err != nil && slices.Contains([]fetch.Fault{fetch.NotFound, fetch.Mismatch, fetch.Protocol}, fetch.FaultOf(err))
}

// keep leaves the part for another visit, unless err says that it is useless: else
// every visit would end like this one.
func (m *mirror) keep(v *visit, left *save.File, err error) {
	switch {
	case left == nil:
	case useless(err):
		m.parts.Delete(partName(v.item.Key))
		left.Abort()
	default:
		left.Close()
	}
}

// spool is where the body of v goes, behind what is left of it, which it takes
// over.
func (m *mirror) spool(v *visit, left *save.File) (*spool, error) {
	s, r, p := &spool{m: m, label: partName(v.item.Key)}, v.resp, left
	switch large := r.Validator != "" && r.Size >= minPart; {
	case r.Fault != nil || r.Unchanged || !r.Location.IsZero(): // nothing of it comes now
		m.keep(v, left, r.Fault)
		return s, nil
	case left == nil && (!large || v.heard.how == fetch.RecordWire):
		return s, nil
	case left == nil:
		var err error
		if p, err = m.part(v); err != nil {
			return s, err
		}
	}
	m.parts.Store(partName(v.item.Key), true)
	if err := p.Begin(save.State{Offset: r.Offset, Validator: r.Validator, Size: r.Size}); err != nil {
		m.keep(v, p, err)
		return s, noPart(err)
	}
	if r.Offset > 0 {
		v.note = fmt.Sprintf("continued at byte %d", r.Offset)
	}
	s.part, s.size = p, r.Offset
	return s, nil
}

// noPart has an object that nothing joins visited again, from its beginning. An
// error of this machine is another matter.
func noPart(err error) error {
	if !useless(err) {
		return err
	}
	return fetch.Truncated.Errorf("nothing joins what there is of it: %w", err)
}

// whole ends the part that s is: it is a file like others then.
func (s *spool) whole() (err error) {
	p := s.part
	s.part = nil
	copy(s.known[:], p.Sum())
	s.file, err = s.m.store.Adopt(p)
	return err
}
