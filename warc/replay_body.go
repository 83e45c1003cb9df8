package warc

import (
	"hash"
	"io"
	"net/http"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/line"
)

// A replayBody is the response body of a replayed capture. Read verifies the
// payload digest at the end.
type replayBody struct {
	io.Reader
	rec       *record
	truncated string // value of WARC-Truncated, or ""
	digest    string
	hash      hash.Hash // nil if there is no digest to verify
	stored    hash.Hash // hash of the body with its transfer coding, or nil
	algorithm Algorithm
}

// verify sets the expected digest of the payload. It has no effect if the
// digest algorithm is not supported.
func (b *replayBody) verify(digest string) {
	if name, _, ok := splitDigest(digest); ok {
		b.digest, b.algorithm = digest, algorithmOf(name+":")
		b.hash = b.algorithm.hash()
	}
}

func (b *replayBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.hash != nil {
		b.hash.Write(p[:n])
	}
	switch err {
	case io.ErrUnexpectedEOF:
		return n, fetch.Truncated.With(err)
	case io.EOF:
	default:
		return n, err
	}
	if b.truncated != "" {
		return n, fetch.Truncated.Errorf("the capture is truncated (%q): %w", b.truncated, io.ErrUnexpectedEOF)
	}
	if b.hash != nil {
		if !b.matches(b.hash) && (b.stored == nil || !b.matches(b.stored)) {
			return n, fetch.Mismatch.Errorf("payload of record %q does not match its digest", b.rec.head.ID())
		}
	}
	return n, err
}

// matches reports whether the sum of h is the expected digest.
func (b *replayBody) matches(h hash.Hash) bool {
	same, _ := sameDigest(b.algorithm.label(h), b.digest)
	return same
}

// Close closes the file of the record.
func (b *replayBody) Close() error { return b.rec.Close() }

// applyRequest applies the conditions and the range of req to a replayed
// response.
func applyRequest(req *fetch.Request, resp *fetch.Response) error {
	if resp.Fault != nil || !resp.Location.IsZero() {
		return nil
	}
	resp.Unchanged = req.IfNot != "" && req.IfNot == resp.Validator
	if req.Op == fetch.Stat || resp.Unchanged {
		err := resp.Body.Close()
		resp.Body = http.NoBody
		return err
	}
	first, end, ok := req.Range.Bounds(resp.Size)
	if resp.Size < 0 || req.Range.IsZero() || !ok || req.IfSame != "" && req.IfSame != resp.Validator {
		return nil // return the complete object
	}
	if _, err := io.CopyN(io.Discard, resp.Body, first); err != nil {
		return line.UnexpectedEOF(err)
	}
	resp.Offset = first
	if end < resp.Size {
		resp.Body = readCloser{io.LimitReader(resp.Body, end-first), resp.Body}
	}
	return nil
}
