package warc

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/internal/format/linesort"
)

// mediaRevisit is the media type in the index lines of revisit records.
const mediaRevisit = "warc/revisit"

// A Line is a line of a CDXJ index, which describes one capture. Empty fields
// are omitted in the file.
type Line struct {
	Key       string // sort key of the URL, as returned by the function Key
	Timestamp string // date of the capture, as YYYYMMDDhhmmss
	URL       string
	Media     string // media type without parameters, or "warc/revisit" for a revisit record
	Status    string // HTTP status code, or ""
	Digest    string // digest of the payload without its label, or ""
	Length    int64  // size of the member or frame, or of the uncompressed record, in bytes
	Offset    int64
	File      string

	Next int64 // position of the next line in the index of an Archive

	method, requestBody string // of the request, if the method is not GET; set by Lines only
}

// String formats the line as it is stored in a CDXJ file, without a line break.
// The line consists of the key, the timestamp and a JSON object with the keys
// url, mime, status, digest, length, offset and filename.
func (l Line) String() string { return string(l.append(nil)) }

func (l Line) append(b []byte) []byte {
	b = append(b, l.Key...)
	b = append(b, ' ')
	b = append(b, l.Timestamp...)
	b = append(b, " {"...)
	for _, f := range [...][2]string{
		{"url", l.URL}, {"mime", l.Media}, {"status", l.Status}, {"digest", l.Digest},
		{"length", strconv.FormatInt(l.Length, 10)}, {"offset", strconv.FormatInt(l.Offset, 10)}, {"filename", l.File},
		{"method", l.method}, {"requestBody", l.requestBody},
	} {
		if f[1] == "" {
			continue
		}
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, f[0]...)
		b = append(b, '"', ':')
		b = appendJSON(b, f[1])
	}
	return append(b, '}')
}

// appendJSON appends s as a JSON string. It escapes the same characters as
// JSON.stringify in JavaScript. The package encoding/json escapes more
// characters, so its output would differ from an index written by warcio.
func appendJSON(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r == '\b':
			b = append(b, `\b`...)
		case r == '\f':
			b = append(b, `\f`...)
		case r < ' ':
			b = append(b, `\u00`...)
			b = append(b, hex[r>>4], hex[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

// hasLine reports whether an index contains a line for a record with this
// header.
func (h *Header) hasLine() bool { return hasLine(h.Type(), h.Get("Content-Type")) }

func hasLine(t Type, media string) bool {
	switch t {
	case Info, Request:
		return false
	case Metadata, Resource:
		return media != FieldsMedia
	}
	return true
}

// newLine returns the index line of a record. It does not set Offset, Length
// and File. For a record of an HTTP response, it calls httpHead for the status
// and the fields of the HTTP header.
func newLine(t Type, url, date, media, digest string, size int64, httpHead func() (int, fetch.Header, error)) (Line, error) {
	l := Line{Key: escape(Key(url), " "), Timestamp: timestamp(date), URL: url, Media: media}
	if _, sum, ok := strings.Cut(digest, ":"); ok {
		l.Digest = sum
	}
	if (t == Response || t == Revisit) && isHTTP(media) { // responses of other protocols, such as DNS, have no HTTP header
		l.Media = ""
		if size > 0 {
			code, fields, err := httpHead()
			if err != nil {
				return Line{}, err
			}
			l.setStatus(code, fields)
		}
	}
	if t == Revisit {
		l.Media = mediaRevisit
	}
	return l, nil
}

// indexLine returns the index line of a record that is not written yet. It
// returns the zero Line if the record has no index line or if its body is not
// an io.ReadSeeker. The parameter sums is the result of setDigests, or nil.
func (r *Record) indexLine(sums *digester) (Line, error) {
	body, seekable := r.Body.(io.ReadSeeker)
	if !hasLine(r.Type, r.Media) || r.Body != nil && !seekable {
		return Line{}, nil
	}
	head := func() (code int, fields fetch.Header, err error) {
		if sums != nil && sums.message != nil && sums.message.HasHead() {
			code, fields = parseHead(sums.message.Head())
			return code, fields, nil
		}
		start, err := body.Seek(0, io.SeekCurrent)
		if err == nil {
			code, fields, err = httpHead(body)
		}
		if err == nil {
			_, err = body.Seek(start, io.SeekStart)
		}
		return code, fields, err
	}
	return newLine(r.Type, targetURI(r.URL), formatDate(r.Date), r.Media, r.PayloadDigest, r.Size, head)
}

// readIndexLine reads the current record and returns its index line. If the
// record is damaged, the line is zero. If only the bytes after the block are
// damaged, readIndexLine returns the line and the error.
func (r *Reader) readIndexLine(h *Header, file string) (Line, error) {
	digest, head := h.Get("WARC-Payload-Digest"), func() (int, fetch.Header, error) { return httpHead(r) }
	if h.arc { // the file has no digests
		sums := newDigester(SHA1, h.Type())
		if _, err := io.Copy(sums, r); err != nil {
			return Line{}, err
		}
		digest = sums.Payload()
		head = func() (int, fetch.Header, error) {
			status, fields := parseHead(sums.message.Head())
			return status, fields, nil
		}
	}
	l, err := newLine(h.Type(), h.Target(), h.Get("WARC-Date"), h.Get("Content-Type"), digest, h.Length, head)
	if err != nil {
		return Line{}, err
	}
	l.Offset, l.File = h.Offset, file
	if _, err := io.Copy(io.Discard, r); err != nil {
		return Line{}, err
	}
	l.Length = r.src.offset() - h.Offset // excludes the line breaks after an uncompressed record, as in warcio
	compressed := r.src.compressed
	length, err := r.Finish()
	if compressed && err != nil {
		return Line{}, err
	}
	if compressed {
		l.Length = length
	}
	return l, err
}

// setStatus sets the status code and the media type of an HTTP response.
func (l *Line) setStatus(code int, fields fetch.Header) {
	if code > 0 {
		l.Status = strconv.Itoa(code)
	}
	media, _, _ := strings.Cut(strings.Join(fields.Values("Content-Type"), ", "), ";")
	l.Media = strings.TrimSpace(media)
}

// isHTTP reports whether contentType is the media type of an HTTP message.
func isHTTP(contentType string) bool {
	return strings.HasPrefix(strings.ToLower(contentType), "application/http")
}

// dateSeparators removes the separators in a WARC-Date.
var dateSeparators = strings.NewReplacer("-", "", ":", "", "T", "")

// timestamp converts a WARC-Date to the format YYYYMMDDhhmmss. The result is
// shorter if date has fewer digits.
func timestamp(date string) string {
	digits := dateSeparators.Replace(date)
	return escape(digits[:min(len(digits), 14)], " ")
}

// completeTimestamp adds the missing digits to a timestamp of a date with reduced
// precision (WARC 1.1 section 5.4).
func completeTimestamp(stamp string) string {
	const first = "00000101000000"
	digits := strings.TrimSuffix(stamp, "Z")
	if n := len(digits); n >= 4 && n < len(first) && n%2 == 0 {
		return digits + first[n:]
	}
	return stamp
}

// Index writes a sorted CDXJ index of the WARC files at paths to w. The lines
// contain the base names of the files. Index skips damaged records and writes
// the lines of all other records. It returns an [*Error] for each of the first
// 10,000 damaged positions, combined with [errors.Join].
func Index(w io.Writer, paths ...string) error {
	var s linesort.Sorter
	defer s.Close()
	var damage []error
	for _, path := range paths {
		f, err := regularfile.Open(path)
		if err != nil {
			return fetch.LocalError(err)
		}
		damaged, err := addLinesOf(&s, filepath.Base(path), path, f)
		if f.Close(); err != nil {
			return fetch.LocalError(err)
		}
		for _, e := range damaged[:min(len(damaged), maxDamaged-len(damage))] {
			damage = append(damage, e)
		}
	}
	return errors.Join(linesort.Write(w, s.Sorted()), errors.Join(damage...))
}

// maxSharedLine is the maximum length of a line of whose text the fields are
// parts. A longer line could have other members, which would stay in memory.
const maxSharedLine = 4 << 10

// separate replaces all strings of l by copies.
func (l *Line) separate() {
	for _, field := range []*string{&l.Key, &l.Timestamp, &l.URL, &l.Media, &l.Status, &l.Digest, &l.File} {
		*field = strings.Clone(*field)
	}
}

// size returns the number of bytes in all strings of l.
func (l *Line) size() int {
	return len(l.Key) + len(l.Timestamp) + len(l.URL) + len(l.Media) + len(l.Status) + len(l.Digest) + len(l.File)
}

// ParseLine parses a line of a CDXJ index. It accepts JSON strings and JSON
// numbers as values, because some software writes numbers. A timestamp of
// reduced precision becomes the start of its period.
func ParseLine(line string) (Line, error) {
	key, rest, ok := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
	stamp, object, ok2 := strings.Cut(rest, " ")
	l := Line{Key: key, Timestamp: completeTimestamp(stamp)}
	f, simple := parseSimple(object)
	if !ok || !ok2 || !simple && json.Unmarshal([]byte(object), &f) != nil {
		return l, fetch.Protocol.Errorf("%.80q is not a CDXJ index line", line)
	}
	l.URL, l.Media, l.Status = string(f.URL), string(f.Mime), string(f.Status)
	l.Digest, l.File = string(f.Digest), string(f.Filename)
	if len(line) > maxSharedLine {
		l.separate()
	}
	var err error
	if l.Length, err = f.Length.int64(); err == nil {
		l.Offset, err = f.Offset.int64()
	}
	return l, err
}

// A stringOrNumber is a value that is encoded as a JSON string or a JSON
// number.
type stringOrNumber string

// UnmarshalJSON decodes a JSON string or a JSON number.
func (w *stringOrNumber) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		return json.Unmarshal(text, (*string)(w))
	}
	var n json.Number
	err := json.Unmarshal(text, &n)
	*w = stringOrNumber(n)
	return err
}

func (w stringOrNumber) int64() (int64, error) {
	n, err := strconv.ParseUint(cmp.Or(string(w), "0"), 10, 62)
	if err != nil {
		return 0, fetch.Protocol.Errorf("invalid length or offset %.40q in an index line", string(w))
	}
	return int64(n), nil
}
