package mirror

import (
	"fmt"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/archive"
	"github.com/anyurl/fetch/save"
)

// minPart is the size from which a body that was cut short is kept, in bytes:
// the next visit, of the next process too, asks for the rest.
const minPart = 8 << 20

func (c *crawl) partFile(v *visit) (*save.File, error) {
	return c.archive.Part(v.item, v.scheme.Traits.WeakValidators)
}

// left opens what an earlier visit left of v, and has req ask for the rest; nil
// is nothing. The record of an http exchange is of one answer alone.
func (c *crawl) openPart(v *visit, req *fetch.Request) (*save.File, error) {
	if v.recorder.mode == fetch.RecordWire || !c.archive.HasPart(v.item) {
		return nil, nil
	}
	p, err := c.partFile(v)
	if err != nil {
		return nil, err
	}
	if s := p.State(); s.Offset > 0 {
		req.Range, req.IfSame, req.IfNot = fetch.Range{First: s.Rest()}, s.Validator, ""
	}
	return p, nil
}

// spool returns where the body of v goes, behind what is left of it, which it
// takes over.
func (c *crawl) openSpool(v *visit, left *save.File) (*archive.Spool, error) {
	r, p := v.resp, left
	switch large := r.Validator != "" && r.Size >= minPart; {
	case r.Fault != nil || r.Unchanged || !r.Location.IsZero(): // nothing of it comes now
		c.archive.LeavePart(v.item, left, r.Fault)
		fallthrough
	case left == nil && (!large || v.recorder.mode == fetch.RecordWire):
		return c.archive.Spool(archive.Label(v.item.Key)), nil
	case left == nil:
		var err error
		if p, err = c.partFile(v); err != nil {
			return nil, err
		}
	}
	s, err := c.archive.SpoolPart(v.item, p, save.State{Offset: r.Offset, Validator: r.Validator, Size: r.Size})
	if err == nil && r.Offset > 0 {
		v.note = fmt.Sprintf("continued at byte %d", r.Offset)
	}
	return s, err
}
