package mirrors

import (
	"errors"
	"io"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/wrap"
)

// errUnchanged means that a mirror did not send the object because of a condition
// of the request, such as Request.Since.
var errUnchanged = errors.New("the object is unchanged")

// retrieve requests consecutive pieces from a mirror. Pieces that are bad are
// marked, so that another mirror retrieves them.
func (b *body) retrieve(m *mirror, run []*piece) error {
	req := m.req.Clone()
	req.Trace = b.trace
	req.Range = fetch.Range{First: run[0].first, End: run[len(run)-1].end}
	resp, err := b.client.Do(wrap.WithoutRetry(b.ctx), req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := b.check(m, req, resp, run); err != nil {
		return err
	}
	var bad error
	for _, p := range run {
		data := make([]byte, p.end-p.first)
		if _, err := io.ReadFull(resp.Body, data); err != nil {
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				err = fetch.Truncated.Errorf("the mirror %s sent too few bytes", m.req.URL)
			}
			b.mark(m, p)
			return err
		}
		if err := b.store(m, p, data); err != nil {
			bad = err
		}
	}
	return bad
}

// check checks the response of a mirror. The first response determines the size
// of the object.
func (b *body) check(m *mirror, req *fetch.Request, resp *fetch.Response, run []*piece) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	unusable := func(format string, args ...any) error {
		return &unusableError{fetch.Mismatch.Errorf(format, args...)}
	}
	switch {
	case resp.Unchanged:
		return errUnchanged
	case resp.Fault != nil || !resp.Location.IsZero():
		return unusable("the mirror did not send the object")
	case resp.Offset != req.Range.First:
		return unusable("the mirror supports no ranges")
	case resp.Size < 0 && b.size < 0:
		return unusable("the mirror does not report the size")
	case resp.Size >= 0 && b.size >= 0 && resp.Size != b.size:
		return unusable("the object has %d bytes, not %d", resp.Size, b.size)
	case m.same != "" && resp.Validator != m.same:
		return unusable("the object has changed on the mirror")
	case b.size < 0 && resp.Size/b.pieceSize() > maxPieces:
		return unusable("the object has %d bytes, more than the maximum", resp.Size)
	}
	m.same = resp.Validator
	if b.media == "" {
		b.media, b.proto = resp.Media, resp.Proto
	}
	if b.size < 0 {
		b.size = resp.Size
		b.window[0].end = min(b.window[0].end, b.size)
		b.next = b.window[0].end
		if b.window[0].end <= b.window[0].first { // an empty object
			b.window = nil
		}
		b.fill()
		b.changed.Broadcast()
	}
	return nil
}

// store verifies and stores a piece.
func (b *body) store(m *mirror, p *piece, data []byte) error {
	if p.digest != nil {
		c := p.digest.Check("the list of mirrors")
		c.Write(data)
		if err := c.Verify(); err != nil {
			b.mark(m, p)
			b.trace.Notef("bytes %d-%d from %s are wrong: requesting them from another mirror", p.first, p.end-1, m.req.URL)
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !p.done {
		p.done, p.data = true, data
	}
	b.changed.Broadcast()
	return nil
}

// mark notes that m did not supply the piece, and makes it available to other
// mirrors.
func (b *body) mark(m *mirror, p *piece) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p.tried = append(p.tried, m)
	for i, o := range p.owners {
		if o == m {
			p.owners = append(p.owners[:i:i], p.owners[i+1:]...)
			break
		}
	}
	b.changed.Broadcast()
}
