package mirror

import (
	"io"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/archive"
	"github.com/anyurl/fetch/internal/http1"
)

// A responseRecorder collects the bytes of an HTTP response for the block of a
// WARC record. It separates the head from the body and removes the transfer
// coding of the body.
type responseRecorder struct {
	keepCoding bool // if true, the transfer coding is not removed; see WARC.KeepTransferCoding

	received bool // at least one byte was received
	message  http1.Message
	wireSize int64 // bytes of the body with its transfer coding
	body     *archive.Spool
	omitted  bool // if true, the recorded body is the body of the visit, and body is empty
}

func (r *responseRecorder) write(p []byte) error {
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

// keepsCoding reports whether the recorded body has its transfer coding. The
// option for this is usually not set. A transfer coding other than chunked is
// also kept, unless the body of the visit is recorded.
func (r *responseRecorder) keepsCoding() bool {
	return r.message.TransferCoded() && (r.keepCoding || !r.message.PayloadValid() && !r.omitted)
}

// omitBody discards the recorded body if resp.Body returns the same bytes. The
// body of the visit is then used for the record, so that a large body is stored
// only once and can be resumed.
func (r *responseRecorder) omitBody(resp *fetch.Response) {
	decoded := resp.Header.Get("Content-Encoding") != "" && resp.Size < 0 && resp.Validator == ""
	if decoded || r.keepCoding && r.message.TransferCoded() {
		return
	}
	r.omitted = true
	r.body.Free()
}

// reset discards the recorded response.
func (r *responseRecorder) reset() {
	r.body.Free()
	*r = responseRecorder{keepCoding: r.keepCoding, body: r.body}
}

// head returns the head of the response as it was received. An HTTP/0.9 response
// has no head.
func (r *responseRecorder) head(v *visit) []byte {
	if v.resp.Head == nil {
		return nil
	}
	return r.message.Head()
}

// block returns the block of the response record of v. The result complete is
// false if the body of v was not read.
func (r *responseRecorder) block(v *visit) (block io.ReadSeeker, complete bool, err error) {
	head, body := r.head(v), r.body
	if r.omitted && v.body == nil {
		return joinBlock(head, nil), false, nil
	}
	if r.omitted {
		body = v.body
	}
	// A client that ignores the framing returns the body with its transfer
	// coding.
	if r.message.TransferCoded() && !r.keepsCoding() && body.Size() != r.wireSize {
		head = http1.DecodedHead(head, body.Size())
	}
	content, err := body.Reader()
	return joinBlock(head, content), true, err
}

// joinBlock returns a reader of head and body. The parameter body may be nil.
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
