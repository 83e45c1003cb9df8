package waistest

import (
	"fmt"
	"io"
	"strings"

	"github.com/anyurl/fetch/internal/wire/z3950"
)

// A Database is a set of documents that a WAIS client can search.
type Database struct {
	Documents       []*Document // in the order in which WAIS_NEXT requests traverse them
	Source, Catalog *Document   // description of the database and list of its documents; may be nil

	// Rank returns the documents that match q, the best match first. If Rank
	// is nil, documents are ranked by how often they contain the words of q.
	Rank func(q *z3950.Query) []Hit
}

// A Hit is a search result with its score.
type Hit struct {
	*Document
	Score, BestMatch z3950.Number
}

// A Document is a document that is available in one or more types.
type Document struct {
	Path     string // path of the file; the last part of the document id
	Headline string
	Bodies   []Body
}

// A Body is the content of a document in one type.
type Body struct {
	Type  string
	Size  int64
	Lines uint32
	Bytes io.ReaderAt
}

// NewText returns a document of type TEXT.
func NewText(path, headline, text string) *Document { return NewDocument(path, headline, "TEXT", text) }

// NewDocument returns a document with one Body, of type kind.
func NewDocument(path, headline, kind, text string) *Document {
	return &Document{path, headline, []Body{NewBody(kind, text)}}
}

// NewBody returns a Body of type kind with the given text.
func NewBody(kind, text string) Body {
	lines := strings.Count(text, "\n")
	if !strings.HasSuffix(text, "\n") && text != "" {
		lines++
	}
	return Body{kind, int64(len(text)), uint32(lines), strings.NewReader(text)}
}

// rank returns the documents that contain words of q. The document with the
// most occurrences comes first.
func (d *Database) rank(q *z3950.Query) (hits []Hit) {
	best := 0
	counts := map[*Document]int{}
	for _, doc := range d.Documents {
		text := doc.sample()
		for word := range strings.FieldsSeq(strings.ToLower(string(q.Words))) {
			counts[doc] += strings.Count(text, word)
		}
		best = max(best, counts[doc])
	}
	for n := best; n > 0; n-- {
		for _, doc := range d.Documents {
			if counts[doc] == n {
				hits = append(hits, Hit{doc, z3950.Some(uint32(1000 * n / best)), z3950.Some(0)})
			}
		}
	}
	if q.Max.Set && uint32(len(hits)) > q.Max.Value {
		hits = hits[:q.Max.Value]
	}
	return hits
}

// sample returns the headline and the first 64 KiB of d, in lower case.
func (d *Document) sample() string {
	text, _ := io.ReadAll(io.NewSectionReader(d.Bodies[0].Bytes, 0, min(d.Bodies[0].Size, 64<<10)))
	return strings.ToLower(d.Headline + "\n" + string(text))
}

// id returns the document id of doc.
func (s *Server) id(database string, doc *Document) []byte {
	local := fmt.Appendf(nil, "0 %d %s", doc.Bodies[0].Size, doc.Path)
	host, path := []byte(s.host()), []byte(s.root()+database)
	return z3950.DocumentID{
		{Tag: z3950.OriginalServer, Value: host}, {Tag: z3950.OriginalDatabase, Value: path}, {Tag: z3950.OriginalLocalID, Value: local},
		{Tag: z3950.DistributorServer, Value: host}, {Tag: z3950.DistributorDatabase, Value: path}, {Tag: z3950.DistributorLocalID, Value: local},
		{Tag: z3950.Copyright, Value: []byte{0}},
	}.Append(nil)
}

// pseudoID returns the document id of the description or the catalog of a
// database.
func (s *Server) pseudoID(database string, doc *Document) []byte {
	return z3950.DocumentID{
		{Tag: z3950.OriginalDatabase, Value: []byte(database)},
		{Tag: z3950.OriginalLocalID, Value: []byte("0 0 " + doc.Path)},
		{Tag: z3950.Copyright, Value: []byte{0}},
	}.Append(nil)
}

// find returns the document whose path is at the end of id, or nil.
func (d *Database) find(id []byte) *Document {
	parts, err := z3950.ParseDocumentID(id)
	if err != nil {
		return nil
	}
	local := ""
	for _, p := range parts {
		if p.Tag == z3950.OriginalLocalID || p.Tag == z3950.DistributorLocalID {
			local = string(p.Value)
		}
	}
	var start, end int64
	var path string
	if n, _ := fmt.Sscanf(local, "%d %d %s", &start, &end, &path); n < 3 {
		return nil
	}
	path = strings.SplitN(local, " ", 3)[2] // the path may contain spaces
	for _, doc := range append([]*Document{d.Source, d.Catalog}, d.Documents...) {
		if doc != nil && doc.Path == path {
			return doc
		}
	}
	return nil
}

// A Pattern is an io.ReaderAt for the bytes of an endless document with
// numbered lines.
type Pattern struct{}

// ReadAt implements io.ReaderAt.
func (Pattern) ReadAt(p []byte, off int64) (int, error) {
	var line [16]byte
	for n := 0; n < len(p); {
		at := off + int64(n)
		k := at / int64(len(line))
		for i := len(line) - 2; i >= 0; i-- {
			line[i], k = '0'+byte(k%10), k/10
		}
		line[len(line)-1] = '\n'
		n += copy(p[n:], line[at%int64(len(line)):])
	}
	return len(p), nil
}
