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

// maxRecordHead is the maximum size of the header of a record, in bytes.
const maxRecordHead = 1 << 20

// maxStray is the maximum number of bytes that the Reader skips between two
// records in search of the next record.
const maxStray = 64 << 20

// A Header is the header of a record, as returned by [Reader.Next]. The header of
// an ARC record has the fields that a WARC record with the same content would
// have, without an ID.
type Header struct {
	Version string       // version of the format, such as "1.1" or, in an ARC file, "ARC 1"
	Fields  fetch.Header // in the order of the file
	Length  int64        // bytes in the block

	// Offset is the position of the record in the file, in bytes. In a
	// compressed file, Offset is the start of the gzip member or zstd frame.
	Offset int64

	sameMember bool // if true, the record is not the first one in its member
	arc        bool // if true, the record is from an ARC file
}

// Type returns the value of the field WARC-Type in lower case.
func (h *Header) Type() Type { return Type(strings.ToLower(h.Get("WARC-Type"))) }

// ID returns the value of the field WARC-Record-ID without angle brackets.
func (h *Header) ID() string { return trimBrackets(h.Get("WARC-Record-ID")) }

// Target returns the value of the field WARC-Target-URI. It removes the angle
// brackets that wget writes. The value may be an invalid URI.
func (h *Header) Target() string { return trimBrackets(h.Get("WARC-Target-URI")) }

// Date returns the value of the field WARC-Date. If the field is missing or
// invalid, Date returns the zero Time.
func (h *Header) Date() time.Time { return parseDate(h.Get("WARC-Date")) }

// Get returns the first value of the header field, or "" if the field is
// missing.
func (h *Header) Get(name string) string { return h.Fields.Get(name) }

func trimBrackets(s string) string {
	if inner, ok := strings.CutPrefix(s, "<"); ok {
		return strings.TrimSuffix(inner, ">")
	}
	return s
}

// parseDate parses the value of a WARC-Date field. The precision ranges from a
// year to a fraction of a second (WARC 1.1 section 5.4). parseDate returns the
// zero Time if the date is invalid.
func parseDate(s string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z", "2006-01-02", "2006-01", "2006"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// An Error reports damage at a position of a WARC file. Its underlying error
// wraps fetch.Truncated or fetch.Mismatch.
type Error struct {
	File      string // path of the file, or "" if unknown
	Offset    int64  // end of the last complete record before the damage
	Truncated bool   // if true, the file ends within a record, for example after a crash
	Err       error
}

// Error returns the file, the offset and the cause as text.
func (e *Error) Error() string {
	state := "damaged"
	if e.Truncated {
		state = "truncated"
	}
	return fmt.Sprintf("%s %s at offset %d: %v", cmp.Or(e.File, "archive"), state, e.Offset, e.Err)
}

// Unwrap returns e.Err.
func (e *Error) Unwrap() error { return e.Err }

// A Reader reads the records of a WARC or ARC file in sequence. The file can be
// compressed with gzip or zstd. The Reader accepts WARC files of the versions
// 0.17 to 1.1 and ARC files of the versions 1 and 2. It tolerates many format
// errors of other software. A Reader is not safe for concurrent use.
type Reader struct {
	src        *source
	head       *Header // header of the current record, or nil between records
	remaining  int64   // unread bytes of the current block
	end        int64   // offset after the last complete record
	sameMember bool    // the next record follows in the current member
	memberOpen bool    // the member of the next record is already open
	resync     bool    // Next must search for the next record
	final      error   // error that all further calls of Next return
	stray      int64   // bytes after the block that belong to no record
	missingEnd bool    // if true, the block was not followed by two line breaks
}

// Errors that the verifier distinguishes when it classifies an Error.
var (
	errNoRecord   = fetch.Mismatch.Errorf("no record starts here")
	errNoLength   = fetch.Mismatch.Errorf("record has no valid Content-Length")
	errStray      = fetch.Mismatch.Errorf("more than %d bytes after the block belong to no record", maxStray)
	errShortBlock = fetch.Mismatch.Errorf("block is shorter than its Content-Length")
)

// NewReader returns a Reader that reads a WARC file from r. If r is an
// io.Seeker, the Reader can continue after damage, because it can search for
// the next record.
func NewReader(r io.Reader) *Reader { return &Reader{src: newSource(r, 0)} }

// NewReaderAt returns a Reader that starts at the given offset of r. A record
// must start at this offset, which can be [Header].Offset or [Line].Offset.
func NewReaderAt(r io.ReaderAt, offset int64) *Reader {
	s := newSource(io.NewSectionReader(r, offset, 1<<62-offset), offset)
	s.dictionary = dictionaryOf(r)
	return &Reader{src: s, end: offset}
}

// Next advances to the next record and returns its header. It skips the unread
// part of the current block. At the end of the file, Next returns io.EOF. If
// the file is damaged, Next returns an [*Error]. The next call of Next then
// searches for the next readable record, unless the Error has Truncated set.
func (r *Reader) Next() (*Header, error) {
	if _, err := r.Finish(); err != nil {
		return nil, err
	}
	if r.final != nil {
		return nil, r.final
	}
	if r.resync && !r.src.findRecord() {
		return nil, r.stop(io.EOF)
	}
	h := &Header{sameMember: r.sameMember}
	if !r.sameMember && !r.memberOpen {
		if err := r.src.nextMember(); err != nil {
			return nil, r.fail(err)
		}
	}
	r.memberOpen = false
	r.resync, h.Offset = false, r.src.start
	if err := r.readHead(h); err != nil {
		if r.src.compressed {
			if _, readErr := io.CopyN(io.Discard, r.src.text, maxStray); readErr != nil && readErr != io.EOF {
				err = readErr // report the corrupt member, because the header in it is unreliable
			}
		}
		return nil, r.fail(err)
	}
	r.head, r.remaining, r.stray, r.missingEnd = h, h.Length, 0, false
	return h, nil
}

// Read reads from the block of the current record. At the end of the block,
// Read returns io.EOF.
func (r *Reader) Read(p []byte) (int, error) {
	if r.head == nil || r.remaining == 0 {
		return 0, io.EOF
	}
	for {
		n, err := r.src.text.Read(p[:min(int64(len(p)), r.remaining)])
		r.remaining -= int64(n)
		switch {
		case n > 0 || len(p) == 0:
			return n, nil
		case err == nil:
		case err != io.EOF:
			return 0, r.fail(err)
		default: // some software splits a record into several members
			if err := r.nextMember(); err != nil {
				return 0, err
			}
		}
	}
}

// nextMember opens the next member, in which the current block continues.
// It returns an error if a new record starts in that member.
func (r *Reader) nextMember() error {
	short := fetch.Mismatch.Errorf("%w: %d bytes are missing", errShortBlock, r.remaining)
	if !r.src.compressed {
		r.src.truncated = true
		return r.fail(fetch.Truncated.Errorf("%w: %w", short, io.ErrUnexpectedEOF))
	}
	if err := r.src.nextMember(); err == io.EOF {
		return r.fail(short)
	} else if err != nil {
		return r.fail(err)
	}
	if r.src.atRecord() {
		r.head, r.memberOpen = nil, true
		return &Error{Offset: r.end, Err: short}
	}
	return nil
}

// Finish skips the unread part of the current record and returns the length of
// the record in the file. In a compressed file, the length includes the
// complete member. In an uncompressed file, the length includes the line
// breaks after the block. Next calls Finish.
func (r *Reader) Finish() (length int64, err error) {
	if r.head == nil {
		return 0, nil
	}
	if _, err := io.Copy(io.Discard, r); err != nil {
		return 0, err
	}
	if err := r.skipSeparator(); err != nil {
		return 0, r.fail(err)
	}
	length = r.src.offset() - r.head.Offset
	r.end, r.head = r.src.offset(), nil
	return length, nil
}

// skipSeparator skips the bytes between the current block and the next record.
// In a compressed file, it stops at the end of the member.
func (r *Reader) skipSeparator() error {
	ends, wanted := 0, 2
	if r.src.form == formARC {
		wanted = 0 // a line break precedes a record; many programs write it after the record
	}
	text := r.src.text
	for r.sameMember = false; ; {
		prefix, err := text.Peek(len(magic))
		if len(prefix) == 0 {
			r.missingEnd = ends < wanted
			if err == io.EOF && r.missingEnd && !r.src.compressed {
				r.src.truncated = true
				return fetch.Truncated.With(io.ErrUnexpectedEOF)
			}
			if err == io.EOF {
				err = nil
			}
			return err
		}
		switch {
		case r.src.atRecord():
			r.sameMember, r.missingEnd = r.src.compressed, ends < wanted
			return nil
		case prefix[0] == '\n':
			ends++
			text.Discard(1)
		case prefix[0] == '\r':
			text.Discard(1)
		case ends >= wanted && !r.src.compressed: // the record is complete; the next record is damaged
			return nil
		case r.stray > maxStray:
			return errStray
		default:
			line, _ := text.ReadSlice('\n') // the next call of Peek returns the error
			r.stray += int64(len(line))
		}
	}
}

// fail converts err to an Error and searches for a record after the damage.
func (r *Reader) fail(err error) error {
	if err == io.EOF {
		return r.stop(io.EOF)
	}
	var fault fetch.Fault
	if !errors.As(err, &fault) || fault != fetch.Truncated && fault != fetch.Mismatch {
		return r.stop(err) // an error of the file system
	}
	r.head, r.sameMember = nil, false
	truncated := r.src.truncated || err == errNoMember || err == errNoRecord && !r.src.compressed && r.end > 0
	follows := !r.src.truncated
	if r.src.seek(r.src.start + 1) {
		if !r.src.compressed && r.src.form != formWARC {
			r.src.skipLine() // the rest of the header of an ARC record could be a header too
		}
		follows = r.src.findRecord()
	}
	r.resync = follows
	if !follows {
		r.final = io.EOF
	}
	if r.src.exhausted {
		truncated = false
		err = fetch.Mismatch.Errorf("%w; the limit for searching after damage is reached, so later records are not read", err)
	}
	return &Error{Offset: r.end, Truncated: truncated && !follows, Err: err}
}

// stop makes all further calls of Next return err.
func (r *Reader) stop(err error) error {
	r.head, r.final = nil, err
	return err
}

// readHead reads the version line and the header fields of a record, or the
// header of an ARC record.
func (r *Reader) readHead(h *Header) error {
	first, size, err := r.firstLine(h)
	if err != nil {
		return err
	}
	version, ok := strings.CutPrefix(first, magic)
	if !ok || r.src.form == formARC {
		return r.readARC(h, first)
	}
	r.src.form, h.Version = formWARC, version
	var text strings.Builder
	for {
		var line string
		if line, size, err = r.readLine(size); err != nil {
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

// readARC parses the line, which is the header of an ARC record.
func (r *Reader) readARC(h *Header, line string) error {
	parsed, ok := parseARC(line)
	switch {
	case !ok || r.src.form == formWARC:
		return errNoRecord
	case parsed.length < 0:
		return errNoLength
	}
	r.src.form = formARC
	start, _ := r.src.text.Peek(len("HTTP/"))
	h.setARC(parsed, string(start) == "HTTP/")
	return nil
}

// firstLine reads the first line of a record header. It skips line breaks
// before this line, because some software writes them, even in separate gzip
// members.
func (r *Reader) firstLine(h *Header) (first string, size int, err error) {
	for {
		if _, err := r.src.text.Peek(1); err == io.EOF && r.src.compressed {
			if err := r.src.nextMember(); err != nil {
				return "", 0, err
			}
			h.Offset, size = r.src.start, 0
		}
		if first, size, err = r.readLine(size); err != nil || first != "" {
			return first, size, err
		}
	}
}

// readLine reads one line of a record header. It adds the length of the line to
// size, to limit the size of the header, and returns the sum.
func (r *Reader) readLine(size int) (string, int, error) {
	var line []byte
	for {
		part, err := r.src.text.ReadSlice('\n')
		line = append(line, part...)
		if size+len(line) > maxRecordHead {
			return "", size, fetch.Mismatch.Errorf("record header is larger than %d bytes", maxRecordHead)
		}
		switch err {
		case nil:
			return strings.TrimRight(string(line), "\r\n"), size + len(line), nil
		case bufio.ErrBufferFull:
		case io.EOF:
			r.src.truncated = r.src.truncated || !r.src.compressed
			return "", size, fetch.Truncated.With(io.ErrUnexpectedEOF)
		default:
			return "", size, err
		}
	}
}
