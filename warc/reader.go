package warc

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// maxRecordHead bounds the named fields of a record.
const maxRecordHead = 1 << 20

// maxStray bounds what is unpacked in search of a record.
const maxStray = 64 << 20

// A Header is the head of a record, as it was read.
type Header struct {
	Version string       // "1.1"
	Fields  fetch.Header // in their order
	Length  int64        // of the block

	// Offset is where the record begins in the file: its gzip member or, where
	// nothing is compressed, its first byte. Inner says that its member began
	// with another record, so that it cannot be read from there alone.
	Offset int64
	Inner  bool
}

// Type is WARC-Type in lower case.
func (h *Header) Type() Type { return Type(strings.ToLower(h.Get("WARC-Type"))) }

// ID is WARC-Record-ID without brackets.
func (h *Header) ID() string { return unbracket(h.Get("WARC-Record-ID")) }

// Target is WARC-Target-URI, without the brackets that wget writes. It need not
// be a valid URI.
func (h *Header) Target() string { return unbracket(h.Get("WARC-Target-URI")) }

// Date is WARC-Date; the zero Time where it cannot be read.
func (h *Header) Date() time.Time { return parseDate(h.Get("WARC-Date")) }

// Get returns the first value of a named field, or "".
func (h *Header) Get(name string) string { return h.Fields.Get(name) }

func unbracket(s string) string {
	if inner, ok := strings.CutPrefix(s, "<"); ok {
		return strings.TrimSuffix(inner, ">")
	}
	return s
}

// parseDate reads a date of the profile of ISO 8601 that WARC has: a year at
// the least, a fraction of a second at the most.
func parseDate(s string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z", "2006-01-02", "2006-01", "2006"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// An Error tells of an archive that cannot be read at some place. Its chain
// holds fetch.Truncated or fetch.Mismatch.
type Error struct {
	File   string // "" where the Reader was given none
	Offset int64  // behind the last whole record before it: where to cut a torn file
	Torn   bool   // the file ends inside of a record, as after a crash; no record follows
	Err    error
}

func (e *Error) Error() string {
	what := "damaged"
	if e.Torn {
		what = "torn"
	}
	return fmt.Sprintf("%s %s at offset %d: %v", cmp.Or(e.File, "archive"), what, e.Offset, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// A Reader reads the records of a file one after the other, gzip members or
// plain: the files of this package and those of other software, WARC/0.17 to
// 1.1. It is not safe for concurrent use.
type Reader struct {
	src    *source
	head   *Header // of the record that is being read; nil: between records
	left   int64   // of its block
	end    int64   // behind the last whole record
	inner  bool    // the next record is in the member of the last one
	begun  bool    // the member of the next record was begun
	lost   bool    // where the next record begins is not known
	closed error   // nothing follows
	stray  int64   // bytes behind the block that belong to no record
	bare   bool    // the record does not end in two line ends
}

// Reasons for an Error.
var (
	errNoRecord   = fetch.Mismatch.Errorf("no record begins here")
	errNoLength   = fetch.Mismatch.Errorf("record without Content-Length")
	errStray      = fetch.Mismatch.Errorf("more than %d bytes behind the block", maxStray)
	errShortBlock = fetch.Mismatch.Errorf("block ends before its Content-Length")
)

// NewReader reads the file that r stands at the beginning of. Where r is an
// io.Seeker, more is found behind damage.
func NewReader(r io.Reader) *Reader { return &Reader{src: newSource(r, 0)} }

// NewReaderAt reads from offset of a file: that of a record.
func NewReaderAt(r io.ReaderAt, offset int64) *Reader {
	return &Reader{src: newSource(io.NewSectionReader(r, offset, 1<<62-offset), offset), end: offset}
}

// Next goes to the next record, whose block Read then reads. It ends with
// io.EOF. What cannot be read is an *Error; unless that says that the file is
// torn, Next goes on with the next record that can be found.
func (r *Reader) Next() (*Header, error) {
	if _, err := r.Finish(); err != nil {
		return nil, err
	}
	if r.closed != nil {
		return nil, r.closed
	}
	if r.lost && !r.src.find() {
		return nil, r.close(io.EOF)
	}
	h := &Header{Inner: r.inner}
	if !r.inner && !r.begun {
		if err := r.src.next(); err != nil {
			return nil, r.fail(err)
		}
	}
	r.begun = false
	r.lost, h.Offset = false, r.src.start
	if err := r.readHead(h); err != nil {
		if r.src.packed {
			if _, broken := io.CopyN(io.Discard, r.src.text, maxStray); broken != nil && broken != io.EOF {
				err = broken // what was read is not what was written
			}
		}
		return nil, r.fail(err)
	}
	r.head, r.left, r.stray, r.bare = h, h.Length, 0, false
	return h, nil
}

// Read reads the block of the record that Next returned.
func (r *Reader) Read(p []byte) (int, error) {
	if r.head == nil || r.left == 0 {
		return 0, io.EOF
	}
	for {
		n, err := r.src.text.Read(p[:min(int64(len(p)), r.left)])
		r.left -= int64(n)
		switch {
		case n > 0 || len(p) == 0:
			return n, nil
		case err == nil:
		case err != io.EOF:
			return 0, r.fail(err)
		default: // some software splits a record over members
			if err := r.nextMember(); err != nil {
				return 0, err
			}
		}
	}
}

// nextMember goes on with the block where its member has ended early.
func (r *Reader) nextMember() error {
	short := fetch.Mismatch.Errorf("%w: %d bytes are missing", errShortBlock, r.left)
	if !r.src.packed {
		r.src.cut = true
		return r.fail(fetch.Truncated.Errorf("%w: %w", short, io.ErrUnexpectedEOF))
	}
	if err := r.src.next(); err == io.EOF {
		return r.fail(short)
	} else if err != nil {
		return r.fail(err)
	}
	if begin, _ := r.src.text.Peek(len(magic)); string(begin) == magic {
		r.head, r.begun = nil, true
		return &Error{Offset: r.end, Err: short}
	}
	return nil
}

// Finish reads what is left of the record, and returns its length in the
// file: of the gzip member or, where nothing is compressed, with the line ends
// behind it. Next calls it.
func (r *Reader) Finish() (length int64, err error) {
	if r.head == nil {
		return 0, nil
	}
	if _, err := io.Copy(io.Discard, r); err != nil {
		return 0, err
	}
	if err := r.separator(); err != nil {
		return 0, r.fail(err)
	}
	length = r.src.offset() - r.head.Offset
	r.end, r.head = r.src.offset(), nil
	return length, nil
}

// separator reads up to the next record of the member, or to its end.
func (r *Reader) separator() error {
	ends := 0
	text := r.src.text
	for r.inner = false; ; {
		begin, err := text.Peek(len(magic))
		if len(begin) == 0 {
			r.bare = ends < 2
			if err == io.EOF && r.bare && !r.src.packed {
				r.src.cut = true
				return fetch.Truncated.With(io.ErrUnexpectedEOF)
			}
			if err == io.EOF {
				err = nil
			}
			return err
		}
		switch {
		case string(begin) == magic:
			r.inner, r.bare = r.src.packed, ends < 2
			return nil
		case begin[0] == '\n':
			ends++
			text.Discard(1)
		case begin[0] == '\r':
			text.Discard(1)
		case ends >= 2 && !r.src.packed: // a tear, or garbage: the record is whole
			return nil
		case r.stray > maxStray:
			return errStray
		default:
			line, _ := text.ReadSlice('\n') // an error stays for Peek
			r.stray += int64(len(line))
		}
	}
}

// fail makes err an Error, and finds out whether anything follows.
func (r *Reader) fail(err error) error {
	if err == io.EOF {
		return r.close(io.EOF)
	}
	var fault fetch.Fault
	if !errors.As(err, &fault) || fault != fetch.Truncated && fault != fetch.Mismatch {
		return r.close(err) // of the file system
	}
	r.head, r.inner = nil, false
	torn := r.src.cut || err == errNoMember || err == errNoRecord && !r.src.packed && r.end > 0
	follows := !r.src.cut
	if r.src.seek(r.src.start + 1) {
		follows = r.src.find()
	}
	r.lost = follows
	if !follows {
		r.closed = io.EOF
	}
	if r.src.spent {
		torn, err = false, fetch.Mismatch.Errorf("%w; there is so much damage that records behind it are not searched for", err)
	}
	return &Error{Offset: r.end, Torn: torn && !follows, Err: err}
}

func (r *Reader) close(err error) error {
	r.head, r.closed = nil, err
	return err
}

// readHead reads version and named fields.
func (r *Reader) readHead(h *Header) error {
	first, size, err := r.begin(h)
	if err != nil {
		return err
	}
	version, ok := strings.CutPrefix(first, magic)
	if !ok {
		return errNoRecord
	}
	h.Version = version
	var text strings.Builder
	for {
		var line string
		if line, size, err = r.line(size); err != nil {
			return err
		}
		if line == "" {
			break
		}
		text.WriteString(line)
		text.WriteByte('\n')
	}
	h.Fields = parseFields(text.String())
	h.Length, err = strconv.ParseInt(h.Get("Content-Length"), 10, 64)
	if err != nil || h.Length < 0 {
		return errNoLength
	}
	return nil
}

// begin reads the first line of a head. Some software writes more line ends
// than two before it, in members of their own too.
func (r *Reader) begin(h *Header) (first string, size int, err error) {
	for {
		if _, err := r.src.text.Peek(1); err == io.EOF && r.src.packed {
			if err := r.src.next(); err != nil {
				return "", 0, err
			}
			h.Offset, size = r.src.start, 0
		}
		if first, size, err = r.line(size); err != nil || first != "" {
			return first, size, err
		}
	}
}

// line reads a line without its end. Size counts what was read of the head.
func (r *Reader) line(size int) (string, int, error) {
	var whole []byte
	for {
		part, err := r.src.text.ReadSlice('\n')
		whole = append(whole, part...)
		if size+len(whole) > maxRecordHead {
			return "", size, fetch.Mismatch.Errorf("head of more than %d bytes", maxRecordHead)
		}
		switch err {
		case nil:
			return strings.TrimRight(string(whole), "\r\n"), size + len(whole), nil
		case bufio.ErrBufferFull:
		case io.EOF:
			r.src.cut = r.src.cut || !r.src.packed
			return "", size, fetch.Truncated.With(io.ErrUnexpectedEOF)
		default:
			return "", size, err
		}
	}
}
