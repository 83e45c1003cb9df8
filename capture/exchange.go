package capture

import (
	"crypto/sha256"
	"io"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/warc"
	"github.com/anyurl/fetch/warc/record"
)

// An Exchange is a request of a client and its response. The payload is the body
// as the server sent it: without the transfer coding, and with the content
// coding.
type Exchange struct {
	Request   *fetch.Request
	Response  *fetch.Response // its Body is closed; nil if Err is not nil
	Err       error           // why there is no response, such as a refusal of the Policy
	Truncated string          // why the payload is incomplete, such as warc.TruncatedByDisconnect, or ""
	Size      int64           // bytes of the payload
	Sum       [sha256.Size]byte

	// RequestSum is the digest of the body of the request, or zero without a body.
	RequestSum [sha256.Size]byte

	record  *record.Exchange
	payload record.Spool
	sums    *record.Sums // digests of the payload for its record, or nil
	body    record.Spool // body of the request
}

// Records returns the WARC records of the exchange. They are valid until Free is
// called. If original is not nil, the first record is a revisit record, which
// refers to a record with the same payload and the given payload digest. For a
// request without a response, Records returns a metadata record with the error,
// or no records if the request was not sent.
func (x *Exchange) Records(original *warc.Reference, digest string) ([]*warc.Record, error) {
	if x.Err != nil {
		if record.Unsent(x.Err) {
			return nil, nil
		}
		return []*warc.Record{x.record.Capture().Failure(x.Err)}, nil
	}
	c := record.Content{Object: x.payload, Sums: x.sums, Original: original, Digest: digest, Truncated: x.Truncated}
	if x.Request.Outgoing.Open != nil {
		c.RequestBody = x.body
	}
	return x.record.Records(c)
}

// Body returns a reader of the payload, which is valid until Free is called.
func (x *Exchange) Body() (*io.SectionReader, error) { return x.payload.Reader() }

// Free removes the stored messages. It can be called more than once.
func (x *Exchange) Free() {
	x.record.Free()
	x.payload.Free()
	x.body.Free()
}
