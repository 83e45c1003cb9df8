package record

import (
	"io"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/http1"
)

// A Response collects the bytes of an HTTP response for the block of a
// WARC record. It separates the head from the body and removes the transfer
// coding of the body.
type Response struct {
	Body       Spool
	KeepCoding bool // if true, the transfer coding is not removed

	received bool // at least one byte was received
	message  http1.Message
	wireSize int64 // bytes of the body with its transfer coding
	omitted  bool  // if true, Body is empty, and the caller of Block has the body
}

// Received reports whether at least one byte was received.
func (r *Response) Received() bool { return r.received }

func (r *Response) write(p []byte) error {
	r.received = true
	for len(p) > 0 {
		inHead := r.message.InHead()
		n, payload := r.message.Next(p)
		if r.KeepsCoding() {
			payload = p[:n]
		}
		p = p[n:]
		if inHead {
			continue
		}
		if r.wireSize += int64(n); r.omitted {
			continue
		}
		if _, err := r.Body.Write(payload); err != nil {
			return err
		}
	}
	return nil
}

// KeepsCoding reports whether the body is recorded with its transfer coding,
// such as chunked, still applied. This is the case if KeepCoding is set. It is
// also the case for codings other than chunked, which only the driver can
// decode, unless OmitBody discarded the recorded body.
func (r *Response) KeepsCoding() bool {
	return r.message.TransferCoded() && (r.KeepCoding || !r.message.PayloadValid() && !r.omitted)
}

// OmitBody discards the recorded body if resp.Body returns the same bytes. The
// caller then stores the body and passes it to Block, so that a large body is
// stored only once and can be resumed.
func (r *Response) OmitBody(resp *fetch.Response) {
	// A driver that removes a content coding returns no size and no validator.
	decoded := resp.Header.Get("Content-Encoding") != "" && resp.Size < 0 && resp.Validator == ""
	if decoded || r.KeepCoding && r.message.TransferCoded() {
		return
	}
	r.omitted = true
	r.Body.Free()
}

// reset discards the recorded response.
func (r *Response) reset() {
	r.Body.Free()
	*r = Response{KeepCoding: r.KeepCoding, Body: r.Body}
}

// Head returns the head of the response as it was received. An HTTP/0.9 response
// has no head.
func (r *Response) Head(resp *fetch.Response) []byte {
	if resp.Head == nil {
		return nil
	}
	return r.message.Head()
}

// Block returns the content of the WARC response record, which is the head
// followed by the body. The parameter object is the body that the caller
// stored, or nil. The result complete is false if OmitBody discarded the body
// and object is nil.
func (r *Response) Block(resp *fetch.Response, object Spool) (block io.ReadSeeker, complete bool, err error) {
	head, body := r.Head(resp), r.Body
	if r.omitted {
		if body = object; body == nil {
			return JoinBlock(head, nil), false, nil
		}
	}
	// With http.Legacy.IgnoreLength, the driver does not decode chunks, so that
	// the object still contains them.
	if r.message.TransferCoded() && !r.KeepsCoding() && body.Size() != r.wireSize {
		head = http1.DecodedHead(head, body.Size())
	}
	content, err := body.Reader()
	return JoinBlock(head, content), true, err
}

// JoinBlock returns a reader of head followed by body. The parameter body may
// be nil.
func JoinBlock(head []byte, body *io.SectionReader) io.ReadSeeker {
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
