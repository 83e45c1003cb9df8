package z3950

// A Kind is the type of a Record, such as a search result or a text.
type Kind uint32

const (
	Diagnosis   Kind = tagDiagnostic
	WordsUsed   Kind = tagSeedWordsUsed
	Document    Kind = 150 // a search result
	ShortHit    Kind = 151
	LongHit     Kind = 152
	Text        Kind = 153 // a chunk of a document
	HeadlineHit Kind = 154
	CodesHit    Kind = 155
)

// A Record is one part of a search response: a search result, a chunk of a
// document, or a diagnostic. Fields that the server omitted are nil or unset.
type Record struct {
	Kind Kind

	ID        []byte // see DocumentID
	Version   Number
	Score     Number // 1000 or more for the best result; 0 for pseudo results
	BestMatch Number // line number of the best match
	Length    Number // in bytes, for the first of Types
	Lines     Number
	Types     [][]byte // available formats of the document, such as TEXT or GIF
	Source    []byte
	Date      []byte // yymmdd or yyyymmdd; "0": unknown
	Headline  []byte
	City      []byte

	StockCodes, CompanyCodes, IndustryCodes []byte

	Text       []byte // the content of a Text, or the words of a WordsUsed
	Diagnostic Diagnostic
}

// A Diagnostic is the reason that a server gives for a failed request or an
// incomplete result.
type Diagnostic struct {
	Code      string // two characters: "S1"
	Message   []byte
	Surrogate bool
}

// Append appends the encoded Record to dst and returns the extended slice.
func (r *Record) Append(dst []byte) []byte {
	switch r.Kind {
	case Diagnosis:
		return r.Diagnostic.append(dst)
	case WordsUsed:
		return appendElement(dst, tagSeedWordsUsed, r.Text)
	}
	return appendGroup(dst, uint32(r.Kind), r.elements().append)
}

func (r *Record) elements() elements {
	return elements{
		{tagDocumentID, &r.ID}, {tagVersion, &r.Version}, {tagScore, &r.Score}, {tagBestMatch, &r.BestMatch}, {tagLength, &r.Length},
		{tagLines, &r.Lines}, {tagTypes, &r.Types}, {tagSource, &r.Source}, {tagDate, &r.Date}, {tagHeadline, &r.Headline},
		{tagCity, &r.City}, {tagStockCodes, &r.StockCodes}, {tagCompanyCodes, &r.CompanyCodes}, {tagIndustryCodes, &r.IndustryCodes},
		{tagText, &r.Text},
	}
}

// endOfRecord is the last byte of a diagnostic. The length field does not count
// it.
const endOfRecord = 0x1d

func (d *Diagnostic) append(dst []byte) []byte {
	n := len(d.Message) + 3
	dst = append(dst, tagDiagnostic, byte(n>>8), byte(n))
	dst = append(append(dst, d.Code...), d.Message...)
	return append(dst, boolByte(d.Surrogate), endOfRecord)
}

// readDiagnostic decodes a diagnostic. The last byte of b must be endOfRecord.
func (r *Record) readDiagnostic(b []byte) error {
	end := len(b) - 1
	if end < 3 || b[end] != endOfRecord {
		return malformed("diagnostic does not end where it says")
	}
	r.Kind = Diagnosis
	r.Diagnostic = Diagnostic{string(b[:2]), b[2 : end-1 : end-1], b[end-1] != 0}
	return nil
}

// read decodes a record with the given tag. It returns false for an unknown
// tag.
func (r *Record) read(tag uint32, value []byte) (known bool, err error) {
	switch r.Kind = Kind(tag); r.Kind {
	case WordsUsed:
		r.Text = value
		return true, nil
	case Document, ShortHit, LongHit, Text, HeadlineHit, CodesHit:
		return true, r.elements().read(value)
	}
	return false, nil
}
