package warc

import (
	"hash"
	"io"
	"mime"
	"net/http"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/entries"
)

// replayed is the payload of a record, held to what the record says of it.
type replayed struct {
	io.Reader
	rec    *record
	cut    string // WARC-Truncated
	digest string
	hash   hash.Hash // nil: nothing to hold it to
	label  Algorithm
}

// check holds the payload to a digest, if it is one that is known.
func (b *replayed) check(digest string) {
	if name, _, ok := splitDigest(digest); ok {
		b.digest, b.label = digest, algorithmOf(name+":")
		b.hash = b.label.hash()
	}
}

func (b *replayed) Read(p []byte) (int, error) {
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
	if b.cut != "" {
		return n, fetch.Truncated.Errorf("the capture was cut off (%q): %w", b.cut, io.ErrUnexpectedEOF)
	}
	if b.hash != nil {
		if same, _ := sameDigest(b.label.label(b.hash), b.digest); !same {
			return n, fetch.Mismatch.Errorf("payload of %q is not the one that was digested", b.rec.head.ID())
		}
	}
	return n, err
}

// Close ends the reading of the file.
func (b *replayed) Close() error { return b.rec.Close() }

// kindOf is what a media type of a resource record says it is. The listings
// are those of this project's schemes.
func kindOf(media string) fetch.Kind {
	if entries.IsMedia(media) {
		return fetch.Menu
	}
	t, _, _ := mime.ParseMediaType(media)
	switch t {
	case "application/gopher-menu", "application/gopher+-menu", "text/x-ph",
		"text/x-ftp-list", "text/x-nntp-overview", "text/x-nntp-hdr", "text/x-nntp-active", "text/x-nntp-descriptions", "text/x-nntp-ids":
		return fetch.Menu
	}
	return fetch.Document
}

// finish gives the part of the object that req asks for.
func finish(req *fetch.Request, resp *fetch.Response) error {
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
		return nil // the whole
	}
	if _, err := io.CopyN(io.Discard, resp.Body, first); err != nil {
		return noEOF(err)
	}
	resp.Offset = first
	if end < resp.Size {
		resp.Body = readCloser{io.LimitReader(resp.Body, end-first), resp.Body}
	}
	return nil
}
