package z3950

import (
	"bufio"
	"bytes"
	"io"
)

// A SearchResponse is a server's reply to a Search. Only its records show
// whether the search succeeded, because servers disagree on the meaning of
// Status.
type SearchResponse struct {
	Status          byte
	Results         uint32 // always 0; Results, Returned and Next have 24 bits
	Returned        uint32 // number of records, including at most one diagnostic
	Next            uint32
	ResultSetStatus Number
	PresentStatus   Number
	Reference       []byte
	Records         []Record // empty in a response from Reader.Response
}

func (p *SearchResponse) elements() elements {
	return elements{{tagResultSetStatus, &p.ResultSetStatus}, {tagPresentStatus, &p.PresentStatus}, {tagReference, &p.Reference}}
}

// Append appends the encoded SearchResponse to dst and returns the extended
// slice.
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

// decode copies each record into its own memory, because a response keeps all
// of them.
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
