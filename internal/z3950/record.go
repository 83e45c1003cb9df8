package z3950

// A Kind says what a Record is. Its value is the tag.
type Kind uint32

const (
	Diagnosis   Kind = tagDiagnostic
	WordsUsed   Kind = tagSeedWordsUsed
	Document    Kind = 150 // a hit
	ShortHit    Kind = 151
	LongHit     Kind = 152
	Text        Kind = 153 // a chunk of a document
	HeadlineHit Kind = 154
	CodesHit    Kind = 155
)

// A Record is one part of a response: a hit, a chunk, or why there is none.
// Which elements it has is the server's choice; nil and unset are absent.
type Record struct {
	Kind Kind

	ID        []byte // see DocumentID
	Version   Number
	Score     Number // 1000 for the best, or more; 0 fills a list without hits
	BestMatch Number // line
	Length    Number // in bytes, of the first of Types
	Lines     Number
	Types     [][]byte // in which the document can be had: TEXT, GIF
	Source    []byte
	Date      []byte // yymmdd or yyyymmdd; "0": unknown
	Headline  []byte
	City      []byte

	StockCodes, CompanyCodes, IndustryCodes []byte

	Text       []byte // of a Text; words of WordsUsed
	Diagnostic Diagnostic
}

// A Diagnostic is why a server did not do as it was asked, or not to the end.
type Diagnostic struct {
	Code      string // two characters: "S1"
	Message   []byte
	Surrogate bool
}

// Append appends r as it stands in the user information.
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

// endOfRecord ends a diagnostic. Its length does not count it.
const endOfRecord = 0x1d

func (d *Diagnostic) append(dst []byte) []byte {
	n := len(d.Message) + 3
	dst = append(dst, tagDiagnostic, byte(n>>8), byte(n))
	dst = append(append(dst, d.Code...), d.Message...)
	return append(dst, truth(d.Surrogate), endOfRecord)
}

// readDiagnostic reads b, which ends in endOfRecord.
func (r *Record) readDiagnostic(b []byte) error {
	end := len(b) - 1
	if end < 3 || b[end] != endOfRecord {
		return malformed("diagnostic does not end where it says")
	}
	r.Kind = Diagnosis
	r.Diagnostic = Diagnostic{string(b[:2]), b[2 : end-1 : end-1], b[end-1] != 0}
	return nil
}

// read reads the record whose element is tag. One of a kind that nobody knows is
// not known, and to be skipped.
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
