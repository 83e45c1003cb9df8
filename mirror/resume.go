package mirror

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/save"
)

// minPart is the minimum size in bytes of a truncated body that is kept as a
// partial file. The next visit requests only the missing bytes.
const minPart = 8 << 20

// openPart opens the partial file of v and sets the range of req to the missing
// bytes. It returns nil if there is no partial file. If v is recorded in a WARC
// file, the partial file must also describe the exchange that started the body.
func (c *crawl) openPart(v *visit, req *fetch.Request) (*save.File, error) {
	if !c.archive.HasPart(v.item) {
		return nil, nil
	}
	p, err := c.archive.Part(v.item)
	if err != nil {
		return nil, err
	}
	s := p.State()
	if s.Offset == 0 {
		return p, nil
	}
	if !v.exchange.Continue(s.Note) {
		c.archive.RejectPart(v.item, p, fetch.Mismatch.Errorf("unknown exchange"))
		return nil, nil
	}
	req.Range, req.IfSame, req.IfNot = fetch.Range{First: s.RequestOffset()}, s.Validator, ""
	return p, nil
}

// openSpool returns a buffer for the response body of v. If part is not nil,
// the buffer appends to this partial file. The buffer takes ownership of part.
func (c *crawl) openSpool(v *visit, part *save.File) (*archive.Spool, error) {
	r, p := v.resp, part
	switch large := r.Validator != "" && r.Size >= minPart; {
	case r.Fault != nil || r.Unchanged || !r.Location.IsZero(): // the body of this response is not the object
		c.archive.ReleasePart(v.item, part, r.Fault)
		return c.archive.Spool(archive.Label(v.item.Key)), nil
	case r.Offset > 0 && v.scheme.Traits.Web && r.Header.Get("ETag") == "" && isTag(part.State().Validator):
		// The server may have ignored the condition (RFC 9110 15.3.7).
		err := fetch.Mismatch.Errorf("the response has a part of the object, but no ETag")
		return c.archive.Spool(archive.Label(v.item.Key)), c.archive.RejectPart(v.item, part, err)
	case r.Offset == 0 && !large:
		if part != nil {
			c.archive.RejectPart(v.item, part, fetch.Mismatch.Errorf("the object cannot be resumed"))
		}
		return c.archive.Spool(archive.Label(v.item.Key)), nil
	case part == nil:
		var err error
		if p, err = c.archive.Part(v.item); err != nil {
			return nil, err
		}
	}
	state := save.State{Offset: r.Offset, Validator: r.Validator, Size: r.Size}
	var err error
	if state.Note, err = v.exchange.Note(); err != nil {
		c.archive.ReleasePart(v.item, p, nil)
		return nil, err
	}
	s, err := c.archive.SpoolPart(v.item, p, state)
	if err == nil && r.Offset > 0 {
		v.note = fmt.Sprintf("resumed at byte %d", r.Offset)
	}
	return s, err
}

// isTag reports whether an HTTP validator is an ETag and not a date.
func isTag(validator string) bool { return strings.HasPrefix(validator, `"`) }

// finishResumed sets the time and the status code of a visit that has completed
// a partial body. The records have the time of the exchange that started the
// body. The archived object is complete, so its status code is not 206.
func (v *visit) finishResumed() {
	if v.resp.Offset == 0 {
		return
	}
	if v.scheme.Traits.Web {
		v.resp.Code = http.StatusOK
	}
	v.started = v.capture().Date
}
