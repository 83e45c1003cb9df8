package archive

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/internal/format/coding"
	"github.com/anyurl/fetch/internal/format/store"
	"github.com/anyurl/fetch/internal/wire/http1"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/warc"
)

// Reopen opens the archived object of c for reading. It reads the file in the
// tree if c has a path, or else the WARC record.
func (a *Archive) Reopen(ctx context.Context, c *frontier.Capture) (io.ReadCloser, error) {
	if c.Path != "" {
		return a.store.Open(c.Path)
	}
	return a.reopenRecord(ctx, c, objectOf)
}

// A bodyOf function returns a reader of the object in the current record of r.
// The parameter h is the header of this record. There are two forms of the
// object of an HTTP response: with its content coding (payloadOf) and without
// (objectOf). The archived object has the second form if the client removed the
// content coding. Its digest shows which form it has.
type bodyOf func(r *warc.Reader, h *warc.Header) (io.Reader, error)

// reopenRecord opens the archived object of c in its WARC record.
func (a *Archive) reopenRecord(ctx context.Context, c *frontier.Capture, form bodyOf) (io.ReadCloser, error) {
	c, err := a.original(ctx, c)
	if err != nil {
		return nil, err
	}
	f, err := a.openStored(ctx, c.File)
	if err != nil {
		return nil, Classify(err)
	}
	r := warc.NewReaderAt(f, c.Offset)
	h, err := r.Next()
	var body io.Reader
	if err == nil {
		body, err = form(r, h)
	}
	if err != nil {
		f.Close()
		return nil, fetch.Mismatch.Errorf("%s: no object at offset %d: %w", c.File, c.Offset, err)
	}
	return struct {
		io.Reader
		io.Closer
	}{body, f}, nil
}

// original returns a capture that has the content of c and a complete record,
// because c may have only a revisit record. It returns c if there is no other
// capture.
func (a *Archive) original(ctx context.Context, c *frontier.Capture) (*frontier.Capture, error) {
	if a.options.Shared != nil && c.Checksum != 0 {
		return c, nil
	}
	first, err := a.frontier.CapturesByDigest(ctx, [][32]byte{c.Digest})
	if f, ok := first[c.Digest]; ok && f.ID != "" {
		c = &f // the first capture of the same content has a complete record
	}
	return c, err
}

// openStored opens a WARC file for reading, from the directory if it exists
// there, or else from the store.
func (a *Archive) openStored(ctx context.Context, name string) (store.File, error) {
	f, err := a.openWARC(name)
	if err == nil {
		return localFile{f}, nil
	}
	if s := a.options.Shared; s != nil && s.Store != nil && errors.Is(err, fs.ErrNotExist) {
		return s.Store.Open(ctx, name)
	}
	return nil, err
}

// A localFile is a WARC file in the directory.
type localFile struct{ *os.File }

// Size returns the size of the file, or 0 if it is unknown.
func (f localFile) Size() int64 {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

// warcPaths returns the paths that a WARC file can have: of the finished and of
// the unfinished file.
func warcPaths(name string) [2]string {
	path := warcFolder + "/" + name
	return [...]string{path, path + warc.OpenSuffix}
}

// openWARC opens a WARC file for reading. The file may be unfinished.
func (a *Archive) openWARC(name string) (*os.File, error) {
	root, path := a.folder.root, warcFolder+"/"+name
	if a.records != nil {
		root, path = a.records.dir, name // saves opening the directory
	}
	f, err := regularfile.OpenIn(root, path)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = regularfile.OpenIn(root, path+warc.OpenSuffix)
	}
	return f, err
}

// objectOf is a bodyOf function that removes the content coding of an HTTP
// response.
func objectOf(r *warc.Reader, h *warc.Header) (io.Reader, error) {
	payload, fields, err := openPayload(r, h)
	if m, ok := payload.(*http1.Reader); ok && err == nil {
		return decodeBody(m, fields)
	}
	return payload, err
}

// payloadOf is a bodyOf function that keeps the content coding of an HTTP
// response.
func payloadOf(r *warc.Reader, h *warc.Header) (io.Reader, error) {
	payload, _, err := openPayload(r, h)
	return payload, err
}

// openPayload returns a reader of the payload of the current record of r. For an
// HTTP response, the reader is an *http1.Reader, and the header fields are not
// nil.
func openPayload(r *warc.Reader, h *warc.Header) (io.Reader, fetch.Header, error) {
	switch {
	case h.Type() == warc.Resource:
		return r, nil, nil
	case h.Type() != warc.Response:
		return nil, nil, errors.New("the record has type " + string(h.Type()))
	}
	m := http1.NewReader(r, 32<<10)
	_, fields, err := readStored(m)
	return m, fields, err
}

// readStored reads the header of an archived HTTP response. Afterward, m reads
// the body.
func readStored(m *http1.Reader) (code int, fields fetch.Header, err error) {
	head, err := m.ReadHead()
	if err != nil {
		return 0, nil, err
	}
	status, fields, _ := http1.ParseHead[fetch.Field](&http1.Rules{Mode: http1.Stored}, string(head))
	if status.Code == 0 {
		return 0, nil, errors.New("the response record contains no HTTP response")
	}
	return status.Code, fields, nil
}

// decodeBody returns a reader that removes the content codings from the body in
// m.
func decodeBody(m *http1.Reader, fields fetch.Header) (io.Reader, error) {
	list, err := coding.Parse(fields.Values("Content-Encoding"))
	if len(list) == 0 || err != nil {
		return m, err
	}
	return coding.NewReader(io.NopCloser(m), list, nil), nil
}

// formOf returns the form in which the WARC record of c contains the object of
// c. It returns nil if the record does not contain the object.
func (a *Archive) formOf(c *frontier.Capture) bodyOf {
	for _, form := range []bodyOf{payloadOf, objectOf} {
		if a.hasForm(c, form) {
			return form
		}
	}
	return nil
}

// hasForm reads the WARC record of c. It reports whether the object that form
// returns has the size and the digest of c.
func (a *Archive) hasForm(c *frontier.Capture, form bodyOf) bool {
	f, err := a.openWARC(c.File)
	if err != nil {
		return false
	}
	defer f.Close()
	r := warc.NewReaderAt(f, c.Offset)
	h, err := r.Next()
	if err != nil || !describes(c, h) {
		return false
	}
	body, err := form(r, h)
	if err != nil {
		return false
	}
	size, digest, err := hashObject(io.LimitReader(body, c.Size+1))
	return size == c.Size && err == nil && digest == c.Digest
}

// hasOtherForm reports whether a WARC record with the payload of c contains an
// object of the given size and digest. This object is then another form of the
// object of c: with or without the content coding. The record can belong to
// another capture, because c may have only a revisit record.
func (a *Archive) hasOtherForm(ctx context.Context, c *frontier.Capture, size int64, digest [32]byte) (bool, error) {
	if c.File == "" || size < 0 {
		return false, nil
	}
	// The database can describe the other capture in either form.
	first, err := a.frontier.CapturesByDigest(ctx, [][32]byte{c.Digest, digest})
	for _, other := range append(slices.Collect(maps.Values(first)), *c) {
		if other.Size, other.Digest = size, digest; other.Proof == c.Proof && a.formOf(&other) != nil {
			return true, err
		}
	}
	return false, err
}
