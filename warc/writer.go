package warc

import (
	"bufio"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/anyurl/fetch/fetch"
)

// DefaultMaxSize is the default value of [Options].MaxSize, in bytes.
const DefaultMaxSize = 1_000_000_000

// Options configures a [Writer]. The zero value is ready to use.
type Options struct {
	Prefix       string    // start of each file name; if empty, "fetch"
	Worker       string    // end of each file name, unique among the Writers of a directory; if empty, the host name
	Serial       int       // serial number of the first file
	Name         string    // name of the only file; if empty, each file has a name with a serial number
	MaxSize      int64     // size in bytes at which the Writer starts a new file; if 0, DefaultMaxSize
	Uncompressed bool      // if true, files are written without compression
	Digest       Algorithm // digest algorithm for blocks and payloads

	// Zstd compresses a file whose Name ends in ".zst". Package warc/zst returns
	// a value for each Writer.
	Zstd Compressor

	// Info contains additional fields for the warcinfo record of each file,
	// such as operator, hostname and robots (WARC 1.1 section 6.2). The fields
	// software, format and conformsTo override the defaults of the Writer.
	Info fetch.Header

	Now   func() time.Time // returns the current time; if nil, time.Now
	newID func() string    // returns a record ID; if nil, a random urn:uuid
}

// A Writer writes records to WARC files in a directory. The file names have the
// form PREFIX-YYYYMMDDhhmmss-SSSSS-WORKER.warc.gz, where SSSSS is a serial
// number. The name of an unfinished file ends in [OpenSuffix]. The first call
// of Write creates the first file.
//
// If Options.Name is set, the Writer writes one file of any size with this name.
// It replaces an existing file, and an unfinished file of an earlier Writer. The
// records are not compressed if the name ends in ".warc", and compressed with
// zstd in place of gzip if it ends in ".zst". The caller must not call Write
// after Close.
//
// A Writer is safe for concurrent use. The caller must close it.
type Writer struct {
	folder folder
	opts   Options

	mu          sync.Mutex
	file        file   // current file, or nil
	name        string // name of the file without OpenSuffix
	info        string // ID of the warcinfo record of the file
	size        int64  // offset after the last complete group
	firstGroup  int64  // offset after the warcinfo record, or 0 if unknown
	serial      int
	rollbackErr error // error of a rollback; an incomplete group remains in the file

	out  *bufio.Writer // buffers writes to file
	gzip *gzip.Writer  // nil unless files are compressed with gzip
	zstd Compressor    // nil unless files are compressed with zstd
	head []byte
	copy []byte // buffer for reading bodies
}

// A Position describes a record that a Writer has written. It contains the
// place of the record and the values that are needed for a revisit record.
type Position struct {
	File   string // final name of the file; an unfinished file has this name followed by OpenSuffix
	Offset int64  // start of the record, its gzip member or its zstd frame, in bytes
	Length int64  // bytes in the file

	// Checksum is the CRC-32 (IEEE) of the Length bytes in the file.
	Checksum uint32

	ID            string
	Date          time.Time // value of WARC-Date
	BlockDigest   string
	PayloadDigest string // "" if the record has no payload digest

	// Line is the index line of the record, as returned by [Lines]. Line is
	// zero if records of this type have no index line, or if the block could be
	// read only once.
	Line Line
}

// A Compressor compresses the records of one Writer. Package warc/zst returns
// Compressors for zstd.
type Compressor interface {
	io.WriteCloser // Close ends a frame

	// ResetContentSize starts a frame with the given number of bytes, which is
	// written to w.
	ResetContentSize(w io.Writer, size int64)
}

// End returns the file offset after the record, for use with [Writer.Resume].
func (p Position) End() int64 { return p.Offset + p.Length }

// NewWriter returns a Writer for files in the directory dir. The caller must
// keep dir open while the Writer is in use. NewWriter creates no files. If the
// prefix, the worker name or an info field contains invalid characters, the
// error wraps fetch.Usage.
func NewWriter(dir *os.Root, opts Options) (*Writer, error) {
	if opts.Prefix == "" {
		opts.Prefix = "fetch"
	}
	if opts.Worker == "" {
		host, _ := os.Hostname()
		opts.Worker = safeName(host)
	}
	switch {
	case opts.Name != "":
		opts.MaxSize = math.MaxInt64
	case opts.MaxSize <= 0:
		opts.MaxSize = DefaultMaxSize
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.newID == nil {
		opts.newID = newID
	}
	for _, part := range []string{opts.Prefix, opts.Worker} {
		if part != safeName(part) {
			return nil, fetch.Usage.Errorf("prefix or worker %q has characters that are not allowed in file names", part)
		}
	}
	if err := checkFields(opts.Info); err != nil {
		return nil, err
	}
	w := &Writer{folder: rootFolder{dir}, opts: opts, serial: opts.Serial, out: bufio.NewWriterSize(nil, bufferSize)}
	w.copy = make([]byte, bufferSize)
	var err error
	switch {
	case opts.Uncompressed || strings.HasSuffix(opts.Name, ".warc"):
	case strings.HasSuffix(opts.Name, ".zst"):
		if w.zstd = opts.Zstd; w.zstd == nil {
			return nil, fetch.Usage.Errorf("%s: Options.Zstd is missing", opts.Name)
		}
	default:
		w.gzip, err = gzip.NewWriterLevel(w.out, gzip.BestSpeed)
	}
	return w, err
}

// compressor returns a writer that compresses a record of the given size to n.
func (w *Writer) compressor(n io.Writer, size int64) io.WriteCloser {
	switch {
	case w.gzip != nil:
		w.gzip.Reset(n)
		return w.gzip
	case w.zstd != nil: // the specification requires the size in each frame
		w.zstd.ResetContentSize(n, size)
		return w.zstd
	}
	return nopCloser{n}
}

// A nopCloser is a writer whose method Close has no effect.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

const recordEnd = "\r\n\r\n"

// Write appends a group of records and returns their positions in the same order.
// A group usually contains the records of one exchange. Records with a zero
// Date share the current time.
//
// Write links the records with the field WARC-Concurrent-To (WARC 1.1 section
// 5.7). The first record refers to all other records, and they refer to the
// first. If a record already has this field in Fields, Write adds no more.
//
// If Write fails, the file contains no record of the group. The caller can
// continue to use the Writer, for example after freeing disk space.
func (w *Writer) Write(group ...*Record) (positions []Position, err error) {
	for _, r := range group {
		if err := r.validate(); err != nil {
			return nil, err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(group) == 0 {
		return nil, nil
	}
	if err := w.openFile(); err != nil {
		return nil, err
	}
	return w.appendGroup(w.setDefaults(group))
}

// setDefaults returns copies of the records. It sets the ID and the Date of a
// copy if they are not set.
func (w *Writer) setDefaults(group []*Record) []*Record {
	now := w.opts.Now().Truncate(time.Microsecond)
	records := make([]*Record, len(group))
	for i, r := range group {
		c := *r
		if c.Date.IsZero() {
			c.Date = now
		}
		c.Date = c.Date.UTC()
		if c.ID == "" {
			c.ID = w.opts.newID()
		}
		records[i] = &c
	}
	return records
}

// appendGroup writes the records. If an error occurs, it removes the records
// that it has already written.
func (w *Writer) appendGroup(group []*Record) (positions []Position, err error) {
	requests, err := requestsOf(group)
	if err != nil {
		return nil, fetch.LocalError(err)
	}
	end := w.size
	for i, r := range group {
		p, err := w.writeRecord(r, concurrentTo(group, i), end)
		if err != nil {
			return nil, w.rollback(err)
		}
		end += p.Length
		positions = append(positions, p)
	}
	addRequests(group, positions, requests)
	if err := w.out.Flush(); err != nil {
		return nil, w.rollback(fetch.LocalError(err))
	}
	w.size = end
	return positions, nil
}

// writeRecord writes one record at the given offset of the current file.
func (w *Writer) writeRecord(r *Record, concurrent []*Record, offset int64) (Position, error) {
	sums, err := r.setDigests(w.opts.Digest, w.copy)
	if err != nil {
		return Position{}, err
	}
	w.head = r.appendHead(w.head[:0], w.info, concurrent)
	line, err := r.indexLine(sums)
	if err != nil {
		return Position{}, fetch.LocalError(err)
	}
	n := &countingWriter{w: w.out}
	out := w.compressor(n, int64(len(w.head))+r.Size+int64(len(recordEnd)))
	if _, err := out.Write(w.head); err != nil {
		return Position{}, fetch.LocalError(err)
	}
	if err := r.writeBlock(out, w.copy); err != nil {
		return Position{}, err
	}
	if _, err := io.WriteString(out, recordEnd); err != nil {
		return Position{}, fetch.LocalError(err)
	}
	if err := out.Close(); err != nil {
		return Position{}, fetch.LocalError(err)
	}
	p := Position{
		File: w.name, Offset: offset, Length: n.n, Checksum: n.checksum,
		ID: r.ID, Date: r.Date, BlockDigest: r.BlockDigest, PayloadDigest: r.PayloadDigest,
	}
	if line.Key != "" {
		line.Offset, line.Length, line.File = p.Offset, p.Length, p.File
		p.Line = line
	}
	return p, nil
}

// rollback truncates the file after the last complete group of records. It
// returns cause.
func (w *Writer) rollback(cause error) error {
	w.out.Reset(w.file)
	err := w.file.Truncate(w.size)
	if err == nil {
		_, err = w.file.Seek(w.size, io.SeekStart)
	}
	if err != nil {
		w.rollbackErr = errors.Join(cause, fetch.LocalError(err))
	}
	return cause
}

// Sync commits the records written so far to stable storage.
func (w *Writer) Sync() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return nil
	}
	return fetch.LocalError(w.file.Sync())
}

// Close syncs and closes the current file and removes the suffix OpenSuffix
// from its name. If the file contains no captures, Close removes the file.
// After Close, Write starts a new file. Further calls of Close have no effect.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.finish()
}

// Abandon closes the current file and leaves the suffix OpenSuffix in its name.
// Another Writer can later continue the file with [Writer.Resume].
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
	w.file, w.rollbackErr = nil, nil
	return fetch.LocalError(err)
}

type countingWriter struct {
	w        *bufio.Writer
	n        int64
	checksum uint32 // CRC-32 (IEEE) of the bytes
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	c.checksum = crc32.Update(c.checksum, crc32.IEEETable, p[:n])
	return n, err
}

var errShortBody = errors.New("body is shorter than its size")

// writeBlock writes the block of the record. The caller must have called
// setDigests. writeBlock reads the body into buffer.
func (r *Record) writeBlock(out io.Writer, buffer []byte) error {
	if r.Body == nil || r.Size == 0 {
		return nil
	}
	body := io.Reader(io.LimitReader(r.Body, r.Size))
	var sums *digester
	if _, seekable := r.Body.(io.Seeker); !seekable {
		sums = newDigester(algorithmOf(r.BlockDigest), r.Type)
		body = io.TeeReader(body, sums)
	}
	n, err := io.CopyBuffer(out, body, buffer)
	var path *fs.PathError
	switch {
	case err != nil && errors.As(err, &path):
		return fetch.LocalError(err)
	case err != nil:
		return err
	case n < r.Size:
		return fetch.Truncated.Errorf("%w: read %d of %d bytes", errShortBody, n, r.Size)
	case sums != nil && sums.Block() != r.BlockDigest:
		return fetch.Mismatch.Errorf("block has the digest %s, but the record specifies %s", sums.Block(), r.BlockDigest)
	}
	return nil
}
