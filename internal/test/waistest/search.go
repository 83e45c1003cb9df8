package waistest

import (
	"bytes"
	"slices"
	"strings"

	"github.com/anyurl/fetch/internal/wire/z3950"
)

// search returns the response to a search. As in freeWAIS-sf, Status is 1 for
// success, although the standard defines 0 as success.
func (c *Session) search(p *z3950.Search) z3950.PDU {
	name, _, _ := strings.Cut(string(p.Databases), "\x1f")
	if p.Databases == nil {
		name = "INFO"
	}
	answer := &z3950.SearchResponse{PresentStatus: z3950.Some(0), Reference: p.Reference}
	d := c.server.Databases[name]
	q := p.Query
	if q == nil {
		q = new(z3950.Query)
	}
	switch {
	case d == nil:
		answer.Records = []z3950.Record{diagnosis("S1", "The following database is not available: "+c.server.root()+name, false)}
	case len(q.Words) == 0 && len(q.Like) == 0, string(q.Words) == "?":
		answer.Records = c.server.describe(name, d)
		if len(q.Words) > 0 {
			answer.Records = append(answer.Records, diagnosis("S1", "query syntax error: ?", false))
		}
	default:
		answer.Records = c.server.hits(name, d, q)
	}
	// Like freeWAIS-sf, omit records that exceed the maximum response size.
	for len(answer.Records) > 0 && uint32(len(answer.Append(nil))) > c.size {
		answer.Records = answer.Records[:len(answer.Records)-1]
	}
	answer.Returned = uint32(len(answer.Records))
	answer.Status = 1
	if n := len(answer.Records); n > 0 && answer.Records[n-1].Kind == z3950.Diagnosis {
		answer.Status = 0
	}
	return answer
}

func diagnosis(code, message string, surrogate bool) z3950.Record {
	return z3950.Record{Kind: z3950.Diagnosis, Diagnostic: z3950.Diagnostic{Code: code, Message: []byte(message), Surrogate: surrogate}}
}

// describe returns the records for a search without words, which describe the
// database.
func (s *Server) describe(name string, d *Database) (records []z3950.Record) {
	if d.Source != nil {
		records = append(records, s.pseudo(name, d.Source, 1000, "Information on database: "))
	}
	if d.Catalog != nil {
		records = append(records, s.pseudo(name, d.Catalog, 1000, "Catalog for database: "))
	}
	return records
}

func (s *Server) pseudo(name string, doc *Document, score uint32, headline string) z3950.Record {
	return addBodies(z3950.Record{
		Kind: z3950.Document, ID: s.pseudoID(name, doc), Score: z3950.Some(score), Source: []byte(name), Headline: []byte(headline + name),
	}, doc)
}

func (s *Server) hits(name string, d *Database, q *z3950.Query) (records []z3950.Record) {
	if len(q.Like) == 1 && bytes.HasPrefix(q.Like[0].Type, []byte("WAIS_")) {
		return s.adjacent(name, d, q.Like[0])
	}
	rank := d.rank
	if d.Rank != nil {
		rank = d.Rank
	}
	for _, h := range rank(q) {
		r := s.hit(name, h.Document)
		r.Score, r.BestMatch = h.Score, h.BestMatch
		records = append(records, r)
	}
	if records == nil && d.Catalog != nil {
		records = append(records, s.pseudo(name, d.Catalog, 0, "Search produced no result. Here's the Catalog for database: "))
	}
	return records
}

func (s *Server) hit(name string, doc *Document) z3950.Record {
	return addBodies(z3950.Record{
		Kind: z3950.Document, ID: s.id(name, doc), Source: []byte(s.root() + name), Date: []byte("0"), Headline: []byte(doc.Headline),
	}, doc)
}

// adjacent returns the record of the document before or after the one that
// to.ID names.
func (s *Server) adjacent(name string, d *Database, to z3950.Like) []z3950.Record {
	i := slices.Index(d.Documents, d.find(to.ID))
	if string(to.Type) == "WAIS_NEXT" {
		i++
	} else {
		i--
	}
	if i < 0 || i >= len(d.Documents) {
		return nil
	}
	return []z3950.Record{s.hit(name, d.Documents[i])}
}

// addBodies sets the fields of r that describe the bodies of doc.
func addBodies(r z3950.Record, doc *Document) z3950.Record {
	r.Length, r.Lines = z3950.Some(uint32(doc.Bodies[0].Size)), z3950.Some(doc.Bodies[0].Lines)
	for _, b := range doc.Bodies {
		r.Types = append(r.Types, []byte(b.Type))
	}
	return r
}
