package z3950

// A DocumentID is the inside of a document's name. Clients hand the name back
// byte by byte; only its printed form, in a URL, needs the parts.
type DocumentID []Part

// A Part is one element of a DocumentID.
type Part struct {
	Tag   uint32
	Value []byte
}

// The tags of a DocumentID's parts. The distributor is the one to ask, where
// there is one.
const (
	OriginalServer      = 1
	OriginalDatabase    = 2
	OriginalLocalID     = 3
	DistributorServer   = 4
	DistributorDatabase = 5
	DistributorLocalID  = 6
	Copyright           = 7 // 0 free, 1 all rights reserved, 2 restricted
)

// maxParts bounds the parts of one name; known ones have seven at the most.
const maxParts = 64

// ParseDocumentID reads the name of a document.
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

// Append appends the name that has these parts.
func (id DocumentID) Append(dst []byte) []byte {
	for _, p := range id {
		dst = appendElement(dst, p.Tag, p.Value)
	}
	return dst
}
