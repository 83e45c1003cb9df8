package mirror

import (
	"fmt"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/archive"
	"github.com/anyurl/fetch/save"
)

// minPart is the minimum size in bytes of a truncated body that is kept as a
// partial file. The next visit requests only the missing bytes.
const minPart = 8 << 20

func (c *crawl) partFile(v *visit) (*save.File, error) {
	return c.archive.Part(v.item, v.scheme.Traits.WeakValidators)
}

// openPart opens the partial file of v and sets the range of req to the missing
// bytes. It returns nil if there is no partial file. It also returns nil for an
// HTTP exchange that is recorded, because the record of a response must contain
// all bytes.
func (c *crawl) openPart(v *visit, req *fetch.Request) (*save.File, error) {
	if v.recorder.mode == scheme.RecordWire || !c.archive.HasPart(v.item) {
		return nil, nil
	}
	p, err := c.partFile(v)
	if err != nil {
		return nil, err
	}
	if s := p.State(); s.Offset > 0 {
		req.Range, req.IfSame, req.IfNot = fetch.Range{First: s.RequestOffset()}, s.Validator, ""
	}
	return p, nil
}

// openSpool returns a buffer for the response body of v. If part is not nil,
// the buffer appends to this partial file. The buffer takes ownership of part.
func (c *crawl) openSpool(v *visit, part *save.File) (*archive.Spool, error) {
	r, p := v.resp, part
	switch large := r.Validator != "" && r.Size >= minPart; {
	case r.Fault != nil || r.Unchanged || !r.Location.IsZero(): // the body of this response is not the object
		c.archive.ReleasePart(v.item, part, r.Fault)
		fallthrough
	case part == nil && (!large || v.recorder.mode == scheme.RecordWire):
		return c.archive.Spool(archive.Label(v.item.Key)), nil
	case part == nil:
		var err error
		if p, err = c.partFile(v); err != nil {
			return nil, err
		}
	}
	s, err := c.archive.SpoolPart(v.item, p, save.State{Offset: r.Offset, Validator: r.Validator, Size: r.Size})
	if err == nil && r.Offset > 0 {
		v.note = fmt.Sprintf("resumed at byte %d", r.Offset)
	}
	return s, err
}
