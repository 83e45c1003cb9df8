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
	return appendGroup(dst, uint32(r.Kind), r.appendFields)
}

func (r *Record) appendFields(dst []byte) []byte {
	dst = appendBytes(dst, tagDocumentID, r.ID)
	dst = appendNumber(dst, tagVersion, r.Version)
	dst = appendNumber(dst, tagScore, r.Score)
	dst = appendNumber(dst, tagBestMatch, r.BestMatch)
	dst = appendNumber(dst, tagLength, r.Length)
	dst = appendNumber(dst, tagLines, r.Lines)
	if r.Types != nil {
		dst = appendGroup(dst, tagTypes, func(dst []byte) []byte {
			for _, t := range r.Types {
				dst = appendElement(dst, tagType, t)
			}
			return dst
		})
	}
	dst = appendBytes(dst, tagSource, r.Source)
	dst = appendBytes(dst, tagDate, r.Date)
	dst = appendBytes(dst, tagHeadline, r.Headline)
	dst = appendBytes(dst, tagCity, r.City)
	dst = appendBytes(dst, tagStockCodes, r.StockCodes)
	dst = appendBytes(dst, tagCompanyCodes, r.CompanyCodes)
	dst = appendBytes(dst, tagIndustryCodes, r.IndustryCodes)
	return appendBytes(dst, tagText, r.Text)
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

// maxTypes is far more than any document has.
const maxTypes = 100

// read reads the record whose element is tag.
func (r *Record) read(tag uint32, value []byte) (known bool, err error) {
	switch r.Kind = Kind(tag); r.Kind {
	default:
		return false, nil
	case WordsUsed:
		r.Text = value
		return true, nil
	case Document, ShortHit, LongHit, Text, HeadlineHit, CodesHit:
	}
	types := func(b []byte) error {
		r.Types = [][]byte{}
		return each(b, func(tag uint32, value []byte) error {
			if len(r.Types) == maxTypes {
				return malformed("document of more than %d types", maxTypes)
			}
			if tag == tagType {
				r.Types = append(r.Types, value)
			}
			return nil
		})
	}
	return true, table{
		tagDocumentID: &r.ID, tagVersion: &r.Version, tagScore: &r.Score, tagBestMatch: &r.BestMatch,
		tagLength: &r.Length, tagLines: &r.Lines, tagTypes: types, tagSource: &r.Source, tagDate: &r.Date,
		tagHeadline: &r.Headline, tagCity: &r.City, tagStockCodes: &r.StockCodes,
		tagCompanyCodes: &r.CompanyCodes, tagIndustryCodes: &r.IndustryCodes, tagText: &r.Text,
	}.read(value)
}
