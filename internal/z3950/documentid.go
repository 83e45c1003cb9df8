package z3950

// A DocumentID holds the parts of a document's name. Clients return the name to
// the server byte for byte. Only the printed form in a URL needs the parts.
type DocumentID []Part

// A Part is one element of a DocumentID.
type Part struct {
	Tag   uint32
	Value []byte
}

// The tags of the parts of a DocumentID. Requests are sent to the distributor
// if a DocumentID names one.
const (
	OriginalServer      = 1
	OriginalDatabase    = 2
	OriginalLocalID     = 3
	DistributorServer   = 4
	DistributorDatabase = 5
	DistributorLocalID  = 6
	Copyright           = 7 // 0 free, 1 all rights reserved, 2 restricted
)

// maxParts limits the parts of one name. Known names have at most seven.
const maxParts = 64

// ParseDocumentID parses the name of a document.
func ParseDocumentID(b []byte) (id DocumentID, err error) {
	err = each(b, func(tag uint32, value []byte) error {
		if len(id) == maxParts {
			return malformed("document id of more than %d parts", maxParts)
		}
		id = append(id, Part{tag, value})
		return nil
	})
	return id, err
}

// Append appends the name that consists of these parts.
func (id DocumentID) Append(dst []byte) []byte {
	for _, p := range id {
		dst = appendElement(dst, p.Tag, p.Value)
	}
	return dst
}
