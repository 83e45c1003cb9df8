package z3950

import "slices"

// The values of Search.Type.
const (
	WAISQuery = "3" // Search.Query contains words, and documents that results should resemble
	TermQuery = "1" // Search.Terms name a document to retrieve
)

// A Search is a query of a database, or a request for a chunk of a document.
type Search struct {
	Small, Large, Medium uint32
	Replace              bool

	ResultSet   []byte
	Databases   []byte // separated by 0x1F; freeWAIS uses the first one
	Type        []byte
	ElementSets []byte
	Reference   []byte

	Query *Query
	Terms []Term
}

// A Query is the content of a WAISQuery.
type Query struct {
	Words      []byte
	Like       []Like
	TextList   []byte
	DateFactor Number // 1: independent
	Begin, End []byte
	Max        Number // maximum number of results
}

// Like names a document that search results should resemble. If Chunk is set,
// they should resemble only the part of the document between Start and End.
type Like struct {
	ID, Type   []byte
	Chunk      Number // a Unit; unset: the complete document
	Start, End []byte
}

// NewQuery returns a Search for documents in a database.
func NewQuery(database string, q Query) *Search {
	return &Search{
		Small: 30, Large: 5000, Medium: 30, Replace: true,
		ResultSet: []byte{}, Databases: []byte(database), Type: []byte(WAISQuery), Query: &q,
	}
}

func (p *Search) elements() elements {
	return elements{
		{tagResultSet, &p.ResultSet}, {tagDatabases, &p.Databases}, {tagQueryType, &p.Type},
		{tagElementSets, &p.ElementSets}, {tagReference, &p.Reference},
	}
}

// Append appends the encoded Search to dst and returns the extended slice.
func (p *Search) Append(dst []byte) []byte {
	dst = appendHead(dst, typeSearch, func(dst []byte) []byte {
		dst = append24(append24(append24(dst, p.Small), p.Large), p.Medium)
		return p.elements().append(append(dst, boolByte(p.Replace)))
	})
	if p.Query != nil {
		dst = appendGroup(dst, tagUserInformation, p.Query.append)
	}
	if p.Terms != nil {
		dst = appendGroup(dst, tagTermQuery, func(dst []byte) []byte { return appendTerms(dst, p.Terms) })
	}
	return dst
}

func append24(dst []byte, v uint32) []byte { return append(dst, byte(v>>16), byte(v>>8), byte(v)) }

// elements lists the elements of a query, except for the words and the
// documents.
func (q *Query) elements() elements {
	return elements{
		{tagTextList, &q.TextList}, {tagDateFactor, &q.DateFactor}, {tagBeginDate, &q.Begin}, {tagEndDate, &q.End}, {tagMaxDocuments, &q.Max},
	}
}

func (q *Query) append(dst []byte) []byte {
	dst = appendBytes(dst, tagSeedWords, q.Words)
	for i := range q.Like {
		l := &q.Like[i]
		tag := uint32(tagDocumentID)
		if l.Chunk.Set {
			tag = tagDocumentIDChunk
		}
		dst = l.elements().append(appendElement(dst, tag, l.ID))
	}
	return q.elements().append(dst)
}

func (l *Like) elements() elements {
	return elements{{tagType, &l.Type}, {tagChunkCode, &l.Chunk}, {tagChunkStart, &l.Start}, {tagChunkEnd, &l.End}}
}

func (p *Search) decode(fields, rest []byte) error {
	if len(fields) < 10 {
		return malformed("Search of %d bytes", len(fields))
	}
	p.Small, p.Large, p.Medium = read24(fields), read24(fields[3:]), read24(fields[6:])
	p.Replace = fields[9] != 0
	if err := p.elements().read(fields[10:]); err != nil || len(rest) == 0 {
		return err
	}
	if string(p.Type) == TermQuery {
		user, err := cutUser(rest, tagTermQuery)
		if err != nil {
			return err
		}
		p.Terms, err = parseTerms(user)
		return err
	}
	user, err := cutUser(rest, tagUserInformation)
	if err != nil {
		return err
	}
	p.Query = new(Query)
	return p.Query.decode(user)
}

func read24(b []byte) uint32 { return uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2]) }

// maxLike is the maximum number of documents in one query.
const maxLike = 100

func (q *Query) decode(b []byte) error {
	return each(b, func(tag uint32, value []byte) error {
		switch tag {
		case tagSeedWords:
			q.Words = value
			return nil
		case tagDocumentID, tagDocumentIDChunk:
			if len(q.Like) == maxLike {
				return malformed("query that names more than %d documents", maxLike)
			}
			q.Like = append(q.Like, Like{ID: value, Chunk: Number{Set: tag == tagDocumentIDChunk}})
			return nil
		case tagType, tagChunkCode, tagChunkStart, tagChunkEnd:
			if len(q.Like) == 0 {
				return malformed("element %d belongs to no document", tag)
			}
			l := &q.Like[len(q.Like)-1]
			if tag != tagType && !l.Chunk.Set {
				return malformed("chunk of a whole document")
			}
			return l.elements().put(tag, value)
		}
		return q.elements().put(tag, value)
	})
}

// A Term is one part of a query in postfix notation: an operator, or a value
// with its attributes.
type Term struct {
	Operator   []byte // "a" and, "o" or, "n" and not; nil: not an operator
	Attributes []byte // six names of two letters: use, relation, position, structure, truncation, completeness
	Value      []byte
}

func appendTerms(dst []byte, terms []Term) []byte {
	for _, t := range terms {
		if t.Operator != nil {
			dst = appendElement(dst, tagOperator, t.Operator)
			continue
		}
		dst = appendElement(dst, tagAttributes, t.Attributes)
		dst = appendElement(dst, tagTerm, t.Value)
	}
	return dst
}

// maxTerms is the maximum number of terms in a query. A retrieval has seven.
const maxTerms = 100

func parseTerms(b []byte) ([]Term, error) {
	terms := []Term{}
	open := false // the last term has attributes, but no value yet
	err := each(b, func(tag uint32, value []byte) error {
		if (tag == tagTerm) != open {
			return malformed("attributes and terms do not alternate")
		}
		if len(terms) == maxTerms {
			return malformed("query of more than %d terms", maxTerms)
		}
		switch tag {
		case tagAttributes:
			terms, open = append(terms, Term{Attributes: value}), true
		case tagTerm:
			terms[len(terms)-1].Value, open = value, false
		case tagOperator:
			terms = append(terms, Term{Operator: slices.Clip(value)})
		default:
			return malformed("element %d in a query of terms", tag)
		}
		return nil
	})
	if err == nil && open {
		err = malformed("attributes without their term")
	}
	return terms, err
}
