package nntp

import (
	"fmt"
	"io"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/line"
)

// maxBatchArticle is the maximum size of an article in a batch, in bytes. The
// size precedes the article in the batch, so the driver must read the complete
// article into memory first. An article outside a batch has no such limit.
const maxBatchArticle = 8 << 20

// batch returns the articles of a range as an rnews batch. In a batch, a line
// "#! rnews LENGTH" precedes each article (RFC 1036 appendix).
func (d *driver) batch(q *task, s *session, view View) (*fetch.Response, error) {
	p, err := d.selectRange(q, s, false)
	if err != nil {
		return nil, err
	}
	if p.empty && !p.incremental && q.kind == kindRange {
		return nil, fetch.NotFound.Errorf("no article in the range: %s has articles %d to %d", p.name, p.low, p.high)
	}
	if p.empty {
		return p.emptyResponse(fetch.Document, batchMedia), nil
	}
	if err := d.startCompression(s, p.last-p.first, false); err != nil {
		return nil, err
	}
	r := &pipeline{
		s:      s,
		verb:   view.verb(),
		source: newNumberSource(s, p.name, p.first, p.last),
		appendArticle: func(dst []byte, _ uint64, _ string, block *line.Block) ([]byte, error) {
			return s.appendBatched(dst, block)
		},
	}
	r.fill()
	switch {
	case len(r.unread) > 0:
	case r.err != io.EOF:
		return nil, r.err
	case !p.incremental && q.kind == kindRange:
		return nil, fetch.NotFound.Errorf("no article in the range")
	default:
		return p.emptyResponse(fetch.Document, batchMedia), nil
	}
	body := d.recordMark(q, p, r, func() Mark { return r.last })
	return &fetch.Response{Kind: fetch.Document, Media: batchMedia, Code: successCodes[r.verb], Body: body}, nil
}

// appendBatched appends one article to dst, preceded by a line "#! rnews
// LENGTH".
func (s *session) appendBatched(dst []byte, block *line.Block) ([]byte, error) {
	var headerSpace [len("#! rnews \n") + 20]byte
	start := len(dst)
	dst = append(dst, headerSpace[:]...)
	dst, err := s.appendBlock(dst, maxBatchArticle, block)
	if err != nil {
		return dst, err
	}
	size := len(dst) - start - len(headerSpace)
	header := fmt.Appendf(nil, "#! rnews %d\n", size)
	copy(dst[start:], header)
	n := copy(dst[start+len(header):], dst[start+len(headerSpace):])
	return dst[:start+len(header)+n], nil
}
