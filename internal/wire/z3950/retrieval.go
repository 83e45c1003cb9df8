package z3950

import (
	"slices"
	"strconv"
)

// A Unit is the unit in which the start and the end of a chunk are counted.
type Unit uint8

const (
	Documents Unit = iota
	Bytes
	Lines
	Paragraphs
)

var units = [...]string{"document", "bytes", "lines", "paragraphs"}

// String returns the name of u.
func (u Unit) String() string { return units[min(int(u), len(units)-1)] }

// uses maps each Unit to its name in the protocol.
var uses = [...]string{Bytes: "wb", Lines: "wl", Paragraphs: "wp"}

// A Retrieval is a request for a chunk of a document. The chunk starts at Start
// and ends before End. Both are counted from zero.
type Retrieval struct {
	Database   string
	ID, Type   []byte
	Unit       Unit // Bytes or Lines; freeWAIS supports no other unit
	Start, End int64
}

// Search returns the protocol message for r. The order of its terms is
// significant, because other orders crash freeWAIS.
func (r Retrieval) Search() *Search {
	and := Term{Operator: []byte("a")}
	use := uses[r.Unit]
	return &Search{
		Small: 10, Large: 16, Medium: 15, Replace: true,
		ResultSet: []byte("FOO"), Databases: []byte(r.Database), Type: []byte(TermQuery),
		ElementSets: []byte(" \x1fDocument Text"), Reference: []byte("3"),
		Terms: []Term{
			term("un", "re", r.ID),
			term("wt", "re", r.Type), and,
			term(use, "ro", strconv.AppendInt(nil, r.Start, 10)), and,
			term(use, "rl", strconv.AppendInt(nil, r.End, 10)), and,
		},
	}
}

func term(use, relation string, value []byte) Term {
	return Term{Attributes: []byte(use + " " + relation + " ig ig ig ig"), Value: value}
}

// Retrieval returns the chunk that p requests. It returns false if p is a
// search for words, or if its terms are invalid or incomplete.
func (p *Search) Retrieval() (r Retrieval, ok bool) {
	if string(p.Type) != TermQuery {
		return r, false
	}
	r = Retrieval{Database: string(p.Databases), Start: -1, End: -1}
	for _, t := range p.Terms {
		if len(t.Attributes) < 5 {
			continue
		}
		switch use, relation := string(t.Attributes[:2]), string(t.Attributes[3:5]); use {
		case "un":
			r.ID = t.Value
		case "wt":
			r.Type = t.Value
		case "wb", "wl", "wp":
			r.Unit = Unit(slices.Index(uses[:], use))
			n, err := strconv.ParseInt(string(t.Value), 10, 64)
			if err != nil || n < 0 {
				return r, false
			}
			if relation == "ro" {
				r.Start = n
			} else if relation == "rl" {
				r.End = n
			}
		}
	}
	return r, r.ID != nil && r.Type != nil && r.Start >= 0 && r.End >= 0
}
