package z3950

// A DocumentID is the name of a document on a WAIS server, split into its
// parts. To retrieve the document, a client sends the complete name unchanged.
type DocumentID []Part

// A Part is one element of a DocumentID.
type Part struct {
	Tag   uint32
	Value []byte
}

// Tags of the parts of a DocumentID.
const (
	OriginalServer      = 1
	OriginalDatabase    = 2
	OriginalLocalID     = 3
	DistributorServer   = 4
	DistributorDatabase = 5
	DistributorLocalID  = 6
	Copyright           = 7 // 0 free, 1 all rights reserved, 2 restricted
)

// maxParts is the maximum number of parts in a DocumentID. Real names have at
// most seven.
const maxParts = 64

// ParseDocumentID decodes the name of a document into its parts.
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

// Append appends the encoded DocumentID to dst and returns the extended slice.
func (id DocumentID) Append(dst []byte) []byte {
	for _, p := range id {
		dst = appendElement(dst, p.Tag, p.Value)
	}
	return dst
}
