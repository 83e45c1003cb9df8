package z3950

import (
	"bufio"
	"bytes"
	"io"
)

// A SearchResponse answers both kinds of Search. Only its records tell what
// became of it: freeWAIS has 1 for success in Status, the standard 0.
type SearchResponse struct {
	Status          byte
	Results         uint32 // of 24 bits, as the next two; always 0
	Returned        uint32 // records, one diagnostic among them at the most
	Next            uint32
	ResultSetStatus Number
	PresentStatus   Number
	Reference       []byte
	Records         []Record // empty where a Reader read p
}

func (p *SearchResponse) elements() elements {
	return elements{{tagResultSetStatus, &p.ResultSetStatus}, {tagPresentStatus, &p.PresentStatus}, {tagReference, &p.Reference}}
}

// Append implements PDU.
func (p *SearchResponse) Append(dst []byte) []byte {
	dst = appendHead(dst, typeSearchResponse, func(dst []byte) []byte {
		return p.elements().append(append24(append24(append24(append(dst, p.Status), p.Results), p.Returned), p.Next))
	})
	return appendGroup(dst, tagUserInformation, func(dst []byte) []byte {
		for i := range p.Records {
			dst = p.Records[i].Append(dst)
		}
		return dst
	})
}

func (p *SearchResponse) decodeHead(fields []byte) error {
	if len(fields) < 10 {
		return malformed("SearchResponse of %d bytes", len(fields))
	}
	p.Status = fields[0]
	p.Results, p.Returned, p.Next = read24(fields[1:]), read24(fields[4:]), read24(fields[7:])
	return p.elements().read(fields[10:])
}

// decode keeps what each record holds, so every record gets memory of its own.
func (p *SearchResponse) decode(fields, rest []byte) error {
	if err := p.decodeHead(fields); err != nil {
		return err
	}
	r := Reader{src: bufio.NewReaderSize(bytes.NewReader(rest), minWindow), left: len(rest)}
	if err := r.openUser(); err != nil {
		return err
	}
	for {
		rec, err := r.Record()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		p.Records, r.buf = append(p.Records, rec), nil
	}
}
