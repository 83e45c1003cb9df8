package warc

import (
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/line"
)

// A record is a WARC record that is open for reading. Close may be called during
// a call of Read.
type record struct {
	mu sync.Mutex
	*Reader
	head   *Header
	file   io.Closer
	pool   *sync.Pool // Close returns the Reader to this pool
	closed bool
}

func (r *record) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return 0, fetch.Local.With(fs.ErrClosed)
	}
	return r.Reader.Read(p)
}

// Close closes the file, and returns the Reader with its buffers to the pool.
func (r *record) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	r.Reader.src.raw, r.Reader.src.dictionary = nil, nil
	r.pool.Put(r.Reader)
	return r.file.Close()
}

// replayBuffer is the size of each of the two buffers of an open record. It is
// small, because a replay server has many open records.
const replayBuffer = 16 << 10

// openRecord opens the record to which l refers. A member can contain
// several records with the URL of l. If none of them has the other values of l,
// openRecord opens the first of them.
func (a *Archive) openRecord(l Line) (*record, error) {
	where, ok := a.sections[path.Base(l.File)]
	if !ok {
		return nil, fetch.NotFound.Errorf("the index refers to the file %q, which is not in the archive: %w", l.File, fs.ErrNotExist)
	}
	in, f, err := where.open()
	if err != nil {
		return nil, err
	}
	rec := &record{Reader: a.readers.Get().(*Reader), file: f, pool: a.readers}
	seek := func(found func(*Header) bool) (err error) {
		r := rec.Reader
		r.src.reset(where.readAhead(io.NewSectionReader(in, l.Offset, 1<<62-l.Offset), l.Length), l.Offset, int(min(max(l.Length, minReadSize), bufferSize)))
		r.src.dictionary = func() ([]byte, error) { return a.dictionaries.get(where) }
		*r = Reader{src: r.src, end: l.Offset}
		for rec.head, err = r.Next(); err == nil && !found(rec.head); rec.head, err = r.Next() {
			if !r.src.compressed || rec.head.Offset != l.Offset {
				return errNoRecord
			}
		}
		return err
	}
	if seek(l.describes) == nil {
		return rec, nil
	}
	if err := seek(func(h *Header) bool { return h.Target() == l.URL }); err != nil {
		rec.Close()
		return nil, fetch.Mismatch.Errorf("%s: offset %d has no record of this URL: %w", where.path, l.Offset, line.UnexpectedEOF(err))
	}
	return rec, nil
}

// describes reports whether l can be the index line of a record with the header
// h. It compares the values that occur in both.
func (l Line) describes(h *Header) bool {
	same, known := sameDigest(l.labeledDigest(), h.Get("WARC-Payload-Digest"))
	if h.Target() != l.URL || !h.hasLine() || known && !same || !strings.HasPrefix(l.Timestamp, timestamp(h.Get("WARC-Date"))) {
		return false
	}
	if h.Type() == Revisit || l.Media == mediaRevisit {
		return h.Type() == Revisit && l.Media == mediaRevisit
	}
	return isHTTP(h.Get("Content-Type")) == (strings.Trim(l.Status, "-") != "")
}
