package warc

import (
	"fmt"
)

// A Problem is a kind of damage or format violation, such as BadGzip.
type Problem uint8

const (
	TruncatedFile     Problem = iota + 1 // the file ends within a record
	BadGzip                              // a gzip member or zstd frame is corrupt
	Garbage                              // bytes between two records belong to no record
	BadLength                            // the length of the block differs from Content-Length
	BadEnd                               // the block is not followed by two line breaks
	BadBlockDigest                       // the block does not match WARC-Block-Digest
	BadPayloadDigest                     // the payload does not match WARC-Payload-Digest
	MissingField                         // a mandatory header field is missing
	BadField                             // a header field is invalid or repeated
	DuplicateID                          // two records have the same WARC-Record-ID
	DanglingReference                    // the record refers to a missing record
	BadPart                              // a part of a WACZ file is missing, corrupt or not listed
)

var problemNames = [...]string{
	TruncatedFile: "torn", BadGzip: "bad-gzip", Garbage: "garbage", BadLength: "bad-length", BadEnd: "bad-end",
	BadBlockDigest: "block-digest", BadPayloadDigest: "payload-digest", MissingField: "missing-field",
	BadField: "bad-field", DuplicateID: "duplicate-id", DanglingReference: "dangling", BadPart: "bad-part",
}

// String returns the name of the problem, such as "bad-gzip".
func (p Problem) String() string { return problemNames[min(int(p), len(problemNames)-1)] }

// IsDamage reports whether the problem means that bytes of a record were lost or
// changed. Other problems are deviations from the format.
func (p Problem) IsDamage() bool { return p >= TruncatedFile && p <= BadPayloadDigest }

// MarshalText returns the name of the problem. The error is always nil.
func (p Problem) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// A Finding describes a problem at one position of a file.
type Finding struct {
	File    string  `json:"file"`
	Offset  int64   `json:"offset"` // start of the record, or end of the previous record, in bytes
	ID      string  `json:"id,omitempty"`
	Problem Problem `json:"what"`
	Note    bool    `json:"note,omitempty"` // if true, the file deviates from the format but is not damaged
	Text    string  `json:"text"`
}

// String formats the finding as one line of text. Strings from the archive are
// quoted.
func (f Finding) String() string {
	kind := ""
	if f.Note {
		kind = "note: "
	}
	return fmt.Sprintf("%s:%d: %s%s: %s", f.File, f.Offset, kind, f.Problem, f.Text)
}
