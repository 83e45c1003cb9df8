package waistest

import (
	"bufio"
	"io"

	"github.com/anyurl/fetch/internal/wire/z3950"
)

// retrieve returns a response with a chunk of a document. It returns false for
// a request that crashes freeWAIS-sf, because its database does not exist or
// its type is missing.
func (c *Session) retrieve(p *z3950.Search) (z3950.PDU, bool) {
	r, ok := p.Retrieval()
	d := c.server.Databases[r.Database]
	if !ok || d == nil {
		return nil, false
	}
	answer := &z3950.SearchResponse{PresentStatus: z3950.Some(0), Reference: p.Reference}
	body := d.find(r.ID).body(string(r.Type))
	if body == nil {
		answer.Records = []z3950.Record{diagnosis("SF", "Missing DocID in request", true)}
	} else {
		text, over := c.read(body, r)
		answer.Records = []z3950.Record{{Kind: z3950.Text, ID: r.ID, Version: z3950.Some(0), Text: text}}
		if over {
			answer.Records = append(answer.Records, diagnosis("SF", "Request out of range", true))
		}
	}
	answer.Returned = uint32(len(answer.Records))
	return answer, true
}

func (d *Document) body(kind string) *Body {
	if d == nil {
		return nil
	}
	for i := range d.Bodies {
		if d.Bodies[i].Type == kind {
			return &d.Bodies[i]
		}
	}
	return nil
}

// read returns the bytes or lines of b that r requests. It reports whether the
// requested range extends past the end of b. It reads at most one byte more
// than the maximum size of a response.
func (c *Session) read(b *Body, r z3950.Retrieval) (text []byte, over bool) {
	if r.Unit == z3950.Lines {
		return readLines(b, r)
	}
	start, end := min(r.Start, b.Size), min(r.End, b.Size)
	n := max(min(end-start, int64(c.size)+1), 0)
	if int64(cap(c.chunk)) < n {
		c.chunk = make([]byte, n)
	}
	c.chunk = c.chunk[:n]
	k, err := b.Bytes.ReadAt(c.chunk, start)
	if err != nil && err != io.EOF {
		k = 0
	}
	return c.chunk[:k:k], r.End > b.Size
}

func readLines(b *Body, r z3950.Retrieval) (text []byte, over bool) {
	text = []byte{}
	in := bufio.NewReader(io.NewSectionReader(b.Bytes, 0, b.Size))
	for n := int64(0); n < r.End; n++ {
		line, err := in.ReadBytes('\n')
		if n >= r.Start {
			text = append(text, line...)
		}
		if err != nil {
			return text, n+1 < r.End || len(line) == 0
		}
	}
	return text, false
}
