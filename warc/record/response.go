package record

import (
	"io"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/http1"
)

// A response collects the bytes of an HTTP response for the block of a
// WARC record. It separates the head from the body and removes the transfer
// coding of the body.
type response struct {
	body       Spool
	keepCoding bool // if true, the transfer coding is not removed
	undecoded  bool // Options.Undecoded

	received bool // at least one byte was received
	message  http1.Message
	wireSize int64 // bytes of the body with its transfer coding
	omitted  bool  // if true, body is empty, and the caller of block has the body
}

func (r *response) write(p []byte) error {
	r.received = true
	for len(p) > 0 {
		inHead := r.message.InHead()
		n, payload := r.message.Next(p)
		if r.keepsCoding() {
			payload = p[:n]
		}
		p = p[n:]
		if inHead {
			continue
		}
		if r.wireSize += int64(n); r.omitted {
			continue
		}
		if _, err := r.body.Write(payload); err != nil {
			return err
		}
	}
	return nil
}

// keepsCoding reports whether the body is recorded with its transfer coding,
// such as chunked, still applied. This is the case if keepCoding is set. It is
// also the case for codings other than chunked, which only the driver can
// decode, unless omitBody discarded the recorded body.
func (r *response) keepsCoding() bool {
	return r.message.TransferCoded() && (r.keepCoding || !r.message.PayloadValid() && !r.omitted)
}

// omitBody discards the recorded body if resp.Body returns the same bytes. The
// caller then stores the body and passes it to block, so that a large body is
// stored only once and can be resumed.
func (r *response) omitBody(resp *fetch.Response) {
	// A driver that removes a content coding returns no size and no validator.
	decoded := !r.undecoded && resp.Header.Get("Content-Encoding") != "" && resp.Size < 0 && resp.Validator == ""
	if decoded || r.keepCoding && r.message.TransferCoded() {
		return
	}
	r.omitted = true
	r.body.Free()
}

// trailerFields returns the trailer fields of an HTTP response as metadata
// fields with the name "trailer". It returns none if the recorded body keeps
// its transfer coding, because the body then contains them.
func (r *response) trailerFields(resp *fetch.Response) (fields fetch.Header) {
	if resp.Trailer == nil || r.keepsCoding() {
		return nil
	}
	for _, f := range resp.Trailer() {
		fields = append(fields, fetch.Field{Name: "trailer", Value: f.Name + ": " + f.Value})
	}
	return fields
}

// reset discards the recorded response.
func (r *response) reset() {
	r.body.Free()
	*r = response{keepCoding: r.keepCoding, undecoded: r.undecoded, body: r.body}
}

// head returns the received head of the response, unchanged. An HTTP/0.9 response
// has no head.
func (r *response) head(resp *fetch.Response) []byte {
	if resp.Head == nil {
		return nil
	}
	return r.message.Head()
}

// block returns the content of the WARC response record, which is the head
// followed by the body. The parameter object is the body that the caller
// stored, or nil. The result complete is false if omitBody discarded the body
// and object is nil.
func (r *response) block(resp *fetch.Response, object Spool) (block io.ReadSeeker, complete bool, err error) {
	head, body := r.head(resp), r.body
	if r.omitted {
		if body = object; body == nil {
			return joinBlock(head, nil), false, nil
		}
	}
	// With http.Legacy.IgnoreLength, the driver does not decode chunks, so that
	// the object still contains them.
	if r.message.TransferCoded() && !r.keepsCoding() && body.Size() != r.wireSize {
		head = http1.DecodedHead(head, body.Size())
	}
	content, err := body.Reader()
	return joinBlock(head, content), true, err
}

// joinBlock returns a reader of head followed by body. The parameter body may
// be nil.
func joinBlock(head []byte, body *io.SectionReader) io.ReadSeeker {
	if body == nil {
		body = io.NewSectionReader(nil, 0, 0)
	}
	return io.NewSectionReader(joinedBlock{head, body}, 0, int64(len(head))+body.Size())
}

type joinedBlock struct {
	head []byte
	body io.ReaderAt
}

// ReadAt implements io.ReaderAt.
func (b joinedBlock) ReadAt(p []byte, off int64) (n int, err error) {
	if size := int64(len(b.head)); off < size {
		if n = copy(p, b.head[off:]); n == len(p) {
			return n, nil
		}
	}
	more, err := b.body.ReadAt(p[n:], off+int64(n)-int64(len(b.head)))
	return n + more, err
}
