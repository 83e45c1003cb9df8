package capture

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/anyurl/fetch/warc"
)

// A Writer writes the records of exchanges to WARC files. A payload that it has
// written before becomes a revisit record. It must be created with [NewWriter].
// It is safe for concurrent use.
type Writer struct {
	files   *warc.Writer
	options WriterOptions
	opened  time.Time // when the first record of the current file was written; zero before

	mu          sync.Mutex
	recent, old map[[sha256.Size]byte]original // two generations, which bound the memory
	counts      Counts
	err         error
}

// Counts are the results of a [Writer].
type Counts struct {
	Exchanges int64 // responses with records
	Revisits  int64 // responses among them whose payload was known
	Failed    int64 // requests without a response
	Bytes     int64 // bytes of the payloads
}

// An original is a payload that has been written.
type original struct {
	reference warc.Reference
	digest    string
}

const (
	maxGeneration  = 1 << 15 // payloads in a generation
	maxOriginalURL = 2 << 10 // bytes of a URL to which a revisit record refers
)

// WriterOptions configures a [Writer].
type WriterOptions struct {
	Sync bool // sync the file after each exchange

	// Age is the time after which an exchange starts a new file, or 0. The names of
	// the files must not be fixed.
	Age time.Duration

	// Dedup is the index of other archives, or nil. A response that it lists, with
	// the same URL, method, body and payload, becomes a revisit record. The caller
	// closes it.
	Dedup *warc.IndexFile
}

// NewWriter returns a Writer that writes to files. The caller closes files after the
// last exchange.
func NewWriter(files *warc.Writer, o WriterOptions) *Writer {
	return &Writer{files: files, options: o, recent: map[[sha256.Size]byte]original{}}
}

// Store writes the records of an exchange and frees it. It is a function for
// Handler.Store. After an error, it discards later exchanges and returns the same
// error.
func (w *Writer) Store(_ context.Context, x *Exchange) error {
	defer x.Free()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = w.write(x)
	}
	return w.err
}

func (w *Writer) write(x *Exchange) error {
	first, known := w.lookup(x)
	group, err := records(x, first, known)
	if err == nil && !known {
		if first, known, err = w.findElsewhere(x, group); known {
			group, err = records(x, first, true)
		}
	}
	if err != nil || len(group) == 0 {
		return err
	}
	if err := w.rotate(); err != nil {
		return err
	}
	positions, err := w.files.Write(group...)
	if err != nil {
		return err
	}
	if w.options.Sync {
		if err := w.files.Sync(); err != nil {
			return err
		}
	}
	w.count(x, known)
	if p := positions[0]; !known && isOriginal(x) && p.PayloadDigest != "" {
		w.remember(x.Sum, original{warc.Reference{ID: p.ID, URL: x.Request.URL, Date: p.Date}, p.PayloadDigest})
	}
	return nil
}

// records returns the records of an exchange, whose payload is first if known is
// true.
func records(x *Exchange, first original, known bool) ([]*warc.Record, error) {
	if !known {
		return x.Records(nil, "")
	}
	return x.Records(&first.reference, first.digest)
}

// findElsewhere searches the index of other archives for the payload of an
// exchange.
func (w *Writer) findElsewhere(x *Exchange, group []*warc.Record) (first original, known bool, err error) {
	if w.options.Dedup == nil || !isOriginal(x) {
		return first, false, nil
	}
	first.reference, first.digest, known, err = w.options.Dedup.Original(group...)
	return first, known, err
}

// rotate finishes the current file if it has reached its maximum age.
func (w *Writer) rotate() error {
	now := time.Now()
	if w.options.Age > 0 && !w.opened.IsZero() && now.Sub(w.opened) >= w.options.Age {
		if err := w.files.Close(); err != nil {
			return err
		}
		w.opened = time.Time{}
	}
	if w.opened.IsZero() {
		w.opened = now
	}
	return nil
}

// isOriginal reports whether later revisit records may refer to the exchange.
func isOriginal(x *Exchange) bool {
	return x.Err == nil && x.Truncated == "" && x.Size > 0 && len(x.Request.URL.Unredacted()) <= maxOriginalURL
}

func (w *Writer) lookup(x *Exchange) (original, bool) {
	if !isOriginal(x) {
		return original{}, false
	}
	first, ok := w.recent[x.Sum]
	if !ok {
		first, ok = w.old[x.Sum]
	}
	return first, ok
}

func (w *Writer) remember(sum [sha256.Size]byte, first original) {
	if len(w.recent) >= maxGeneration {
		w.recent, w.old = map[[sha256.Size]byte]original{}, w.recent
	}
	w.recent[sum] = first
}

func (w *Writer) count(x *Exchange, revisit bool) {
	switch {
	case x.Err != nil:
		w.counts.Failed++
		return
	case revisit:
		w.counts.Revisits++
	}
	w.counts.Exchanges++
	w.counts.Bytes += x.Size
}

// Err returns the first error of writing records.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Counts returns the results so far.
func (w *Writer) Counts() Counts {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.counts
}
