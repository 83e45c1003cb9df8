package warc

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/anyurl/fetch/fetch"
)

// DefaultMaxSize is where a Writer goes on to its next file.
const DefaultMaxSize = 1_000_000_000

// Options are what a Writer is made with. The zero value is right.
type Options struct {
	Prefix  string    // of file names; "": "fetch"
	Worker  string    // the end of file names, another for each Writer of a folder; "": the name of the host
	MaxSize int64     // bytes after which the next file begins; 0: DefaultMaxSize
	Plain   bool      // write without compression
	Digest  Algorithm // of blocks and payloads

	// Info are fields of the warcinfo record that begins each file: software,
	// hostname, operator, robots, http-header-user-agent. A format and a
	// conformsTo of the caller's replace the Writer's own.
	Info fetch.Header

	Now   func() time.Time // nil: time.Now
	NewID func() string    // nil: urn:uuid: and random
}

// A Writer appends records to files of its own in a folder, named
// PREFIX-YYYYMMDDhhmmss-SSSSS-WORKER.warc.gz, and PREFIX...warc.gz.open until
// they are finished. A file is begun by the first Write that needs it.
//
// A Writer is safe for concurrent use; the caller closes it.
type Writer struct {
	folder Folder
	opts   Options

	mu     sync.Mutex
	file   File   // nil: none is open
	name   string // as it will be when it is finished
	info   string // identifier of its warcinfo record
	size   int64  // end of the last group that was written
	start  int64  // of the first group behind the warcinfo record; 0: not known
	serial int
	failed error // what was written could not be taken back

	out  *bufio.Writer // to file
	gzip *gzip.Writer
	head []byte
}

// Place tells where a record lies, and what a later revisit of it needs.
type Place struct {
	File   string // its name once finished; File + ".open" until then
	Offset int64  // of its gzip member, or of the record where it is not compressed
	Length int64

	ID            string
	Date          time.Time // as it was written
	BlockDigest   string
	PayloadDigest string // "" where there is none

	// Line is what Lines says of the record, and zero where it has no line or
	// where the block could be read only once.
	Line Line
}

// End is the offset behind the record: see Writer.Resume.
func (p Place) End() int64 { return p.Offset + p.Length }

// NewWriter makes a Writer to folder; nothing is written yet. The error is of
// fetch.Usage: a name that files cannot have, a field that would be several.
func NewWriter(folder Folder, opts Options) (*Writer, error) {
	if opts.Prefix == "" {
		opts.Prefix = "fetch"
	}
	if opts.Worker == "" {
		host, _ := os.Hostname()
		opts.Worker = safeName(host)
	}
	if opts.MaxSize <= 0 {
		opts.MaxSize = DefaultMaxSize
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.NewID == nil {
		opts.NewID = newID
	}
	for _, part := range []string{opts.Prefix, opts.Worker} {
		if part != safeName(part) {
			return nil, fetch.Usage.Errorf("%q cannot be part of a file name", part)
		}
	}
	if err := checkFields(opts.Info); err != nil {
		return nil, err
	}
	w := &Writer{folder: folder, opts: opts, out: bufio.NewWriterSize(nil, 64<<10)}
	if !opts.Plain {
		var err error
		if w.gzip, err = gzip.NewWriterLevel(w.out, gzip.BestSpeed); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// Write appends records as one group, those of one exchange in the order they
// are given, and tells of each where it lies. All that have no Date get the
// same. The first record names all the others as WARC-Concurrent-To, and each of
// them the first; those that already name a record in Fields keep to it.
//
// Where Write fails, nothing of the group is in the file, and the Writer can
// be used again: when there is space on the device, for one.
func (w *Writer) Write(group ...*Record) (places []Place, err error) {
	for _, r := range group {
		if err := r.check(); err != nil {
			return nil, err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(group) == 0 {
		return nil, nil
	}
	if err := w.ready(); err != nil {
		return nil, err
	}
	return w.append(w.complete(group))
}

// complete gives the records what they lack, on copies.
func (w *Writer) complete(group []*Record) []*Record {
	now := w.opts.Now().Truncate(time.Microsecond)
	done := make([]*Record, len(group))
	for i, r := range group {
		c := *r
		if c.Date.IsZero() {
			c.Date = now
		}
		c.Date = c.Date.UTC()
		if c.ID == "" {
			c.ID = w.opts.NewID()
		}
		done[i] = &c
	}
	return done
}

// append writes what complete returned, or nothing.
func (w *Writer) append(group []*Record) (places []Place, err error) {
	end := w.size
	for i, r := range group {
		p, err := w.record(r, concurrent(group, i), end)
		if err != nil {
			return nil, w.undo(err)
		}
		end += p.Length
		places = append(places, p)
	}
	if err := w.out.Flush(); err != nil {
		return nil, w.undo(local(err))
	}
	w.size = end
	return places, nil
}

// record writes one record at offset.
func (w *Writer) record(r *Record, concurrent []*Record, offset int64) (Place, error) {
	if err := r.digest(w.opts.Digest); err != nil {
		return Place{}, err
	}
	w.head = r.appendHead(w.head[:0], w.info, concurrent)
	line, err := r.line()
	if err != nil {
		return Place{}, local(err)
	}
	n := &counter{w: w.out}
	var out io.Writer = n
	if w.gzip != nil {
		w.gzip.Reset(n)
		out = w.gzip
	}
	if _, err := out.Write(w.head); err != nil {
		return Place{}, local(err)
	}
	if err := r.writeBlock(out); err != nil {
		return Place{}, err
	}
	if _, err := io.WriteString(out, "\r\n\r\n"); err != nil {
		return Place{}, local(err)
	}
	if w.gzip != nil {
		if err := w.gzip.Close(); err != nil {
			return Place{}, local(err)
		}
	}
	p := Place{
		File: w.name, Offset: offset, Length: n.n,
		ID: r.ID, Date: r.Date, BlockDigest: r.BlockDigest, PayloadDigest: r.PayloadDigest,
	}
	if line.Key != "" {
		line.Offset, line.Length, line.File = p.Offset, p.Length, p.File
		p.Line = line
	}
	return p, nil
}

// undo takes back what of a group has come into the file.
func (w *Writer) undo(cause error) error {
	w.out.Reset(w.file)
	err := w.file.Truncate(w.size)
	if err == nil {
		_, err = w.file.Seek(w.size, io.SeekStart)
	}
	if err != nil {
		w.failed = errors.Join(cause, local(err))
	}
	return cause
}

// Sync makes durable what Write has written.
func (w *Writer) Sync() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return nil
	}
	return local(w.file.Sync())
}

// Close finishes the file that is open: synced, and without ".open" at the end
// of its name. A file that holds no capture is removed. Close may be called
// again, and Write after it begins another file.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.finish()
}

// Abandon closes the file that is open and leaves it as it is, its name too:
// for Resume, by this Writer or another.
func (w *Writer) Abandon() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.abandon()
}

func (w *Writer) abandon() error {
	if w.file == nil {
		return nil
	}
	err := w.file.Close()
	w.file, w.failed = nil, nil
	return local(err)
}

type counter struct {
	w *bufio.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

var errShort = errors.New("shorter than its Size")

// writeBlock writes the block of r, which digest has looked at.
func (r *Record) writeBlock(out io.Writer) error {
	if r.Body == nil || r.Size == 0 {
		return nil
	}
	body := io.Reader(io.LimitReader(r.Body, r.Size))
	var check *Digester
	if _, again := r.Body.(io.Seeker); !again {
		check = NewDigester(algorithmOf(r.BlockDigest), r.Type)
		body = io.TeeReader(body, check)
	}
	n, err := io.Copy(out, body)
	var path *fs.PathError
	switch {
	case err != nil && errors.As(err, &path):
		return local(err)
	case err != nil:
		return err
	case n < r.Size:
		return fetch.Truncated.Errorf("block of %d bytes: %w %d", n, errShort, r.Size)
	case check != nil && check.Block() != r.BlockDigest:
		return fetch.Mismatch.Errorf("block has digest %s, not %s", check.Block(), r.BlockDigest)
	}
	return nil
}
