package archive

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/coding"
	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/internal/http1"
	"github.com/anyurl/fetch/internal/regularfile"
	"github.com/anyurl/fetch/warc"
)

// Reopen reads an object from the archive: from the tree, else from its WARC.
func (a *Archive) Reopen(ctx context.Context, c *frontier.Capture) (io.ReadCloser, error) {
	if c.Path != "" {
		return a.store.Open(c.Path)
	}
	first, err := a.frontier.CapturesByDigest(ctx, [][32]byte{c.Digest})
	if err != nil {
		return nil, err
	}
	if f, ok := first[c.Digest]; ok && f.ID != "" {
		c = &f // what it may be the revisit of
	}
	f, err := a.openWARC(c.File)
	if err != nil {
		return nil, Fault(err)
	}
	body, err := object(warc.NewReaderAt(f, c.Offset))
	if err != nil {
		f.Close()
		return nil, fetch.Mismatch.Errorf("%s: no object at %d: %w", c.File, c.Offset, err)
	}
	return struct {
		io.Reader
		io.Closer
	}{body, f}, nil
}

// openWARC opens a WARC file, finished or not.
func (a *Archive) openWARC(name string) (*os.File, error) {
	f, err := regularfile.OpenIn(a.folder.root, warcFolder+"/"+name)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = regularfile.OpenIn(a.folder.root, warcFolder+"/"+name+warc.OpenSuffix)
	}
	return f, err
}

// object returns a reader of the object in a record. The object of an http
// response is its payload without the content coding.
func object(r *warc.Reader) (io.Reader, error) {
	h, err := r.Next()
	if err != nil {
		return nil, err
	}
	return objectOf(r, h)
}

// objectOf is object for the record that r is in, of which h is the head.
func objectOf(r *warc.Reader, h *warc.Header) (io.Reader, error) {
	switch {
	case h.Type() == warc.Resource:
		return r, nil
	case h.Type() != warc.Response:
		return nil, errors.New("a record of type " + string(h.Type()))
	}
	m := http1.NewReader(r, 32<<10)
	head, err := m.ReadHead()
	if err != nil {
		return nil, err
	}
	status, fields, _ := http1.ParseHead[fetch.Field](&http1.Rules{Mode: http1.Stored}, string(head))
	if status.Code == 0 {
		return nil, errors.New("a response record without an http response")
	}
	list, err := coding.Parse(fetch.Header(fields).Values("Content-Encoding"))
	if len(list) == 0 || err != nil {
		return m, err
	}
	return coding.NewReader(io.NopCloser(m), list, nil), nil
}
