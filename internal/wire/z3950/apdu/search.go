package apdu

import "github.com/anyurl/fetch/internal/wire/ber"

// bib1 is the attribute set of queries.
const bib1 = "1.2.840.10003.3.1"

// A Term is a search term with its Bib-1 attributes. An attribute that is zero
// is not sent, so that the server chooses its value.
type Term struct {
	Text      string
	Use       int64 // where to search: 4 title, 1003 author, 1032 document id
	Structure int64 // 1 phrase, 2 word, 104 URx
}

// A Search creates a result set. A record is in the result set if it contains
// all terms.
type Search struct {
	Set       string // name of the result set
	Databases []string
	Terms     []Term // at least one
}

// Encode returns the encoded message. It requests a response without records.
func (p *Search) Encode() []byte {
	var databases [][]byte
	for _, d := range p.Databases {
		databases = append(databases, ber.String(105, d))
	}
	return ber.Group(tagSearch,
		ber.Number(13, 0), // no records in the response; a Present requests them
		ber.Number(14, 1),
		ber.Number(15, 0),
		ber.Truth(16, true),
		ber.String(17, p.Set),
		ber.Group(18, databases...),
		ber.Group(21, ber.Group(1, ber.Primitive(ber.Universal, ber.OID, ber.OIDValue(bib1)), query(p.Terms))),
	)
}

// query returns the encoded query for records that contain all terms.
func query(terms []Term) []byte {
	q := terms[0].operand()
	for _, t := range terms[1:] {
		q = ber.Group(1, q, t.operand(), ber.Group(46, ber.Primitive(ber.Context, 0, nil)))
	}
	return q
}

func (t Term) operand() []byte {
	var attributes [][]byte
	if t.Use != 0 {
		attributes = append(attributes, attribute(1, t.Use))
	}
	if t.Structure != 0 {
		attributes = append(attributes, attribute(4, t.Structure))
	}
	return ber.Group(0, ber.Group(102, ber.Group(44, attributes...), ber.String(45, t.Text)))
}

func attribute(kind, value int64) []byte {
	return ber.SequenceOf(ber.Number(120, kind), ber.Number(121, value))
}

// A SearchResponse is the reply to a Search.
type SearchResponse struct {
	Count       int64 // records in the result set
	OK          bool
	Diagnostics []Diagnostic
}

func (p *SearchResponse) decode(all []ber.Element) (err error) {
	if err := (fields{23: &p.Count, 22: &p.OK}).read(all); err != nil {
		return err
	}
	_, p.Diagnostics, err = records(all)
	return err
}
