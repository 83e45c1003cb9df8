package warc

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/regularfile"
)

// A Line of a CDXJ index: where a capture lies and what is asked of it. Empty
// fields are not written.
type Line struct {
	Key       string // see func Key
	Timestamp string // YYYYMMDDhhmmss
	URL       string
	Media     string // of the entity, without parameters for http; "warc/revisit"
	Status    string // of http
	Digest    string // of the payload, without its label
	Length    int64  // of the gzip member
	Offset    int64
	File      string
}

// String is the line, without a line end: key, timestamp, and the fields url,
// mime, status, digest, length, offset, filename as strings of a JSON object.
func (l Line) String() string { return string(l.append(nil)) }

func (l Line) append(b []byte) []byte {
	b = append(b, l.Key...)
	b = append(b, ' ')
	b = append(b, l.Timestamp...)
	b = append(b, " {"...)
	for _, f := range [...][2]string{
		{"url", l.URL}, {"mime", l.Media}, {"status", l.Status}, {"digest", l.Digest},
		{"length", strconv.FormatInt(l.Length, 10)}, {"offset", strconv.FormatInt(l.Offset, 10)}, {"filename", l.File},
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

// appendJSON writes a string as JavaScript's JSON does: encoding/json escapes
// more, and two tools' indexes of one archive are compared by their bytes.
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

// Lines makes the lines of an archive, in the order of its records: one for
// each but warcinfo, request and lists of fields. File is what the lines say
// for filename. An *Error that is not of a torn file does not end the sequence.
func Lines(file string, r io.Reader) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		in := NewReader(r)
		for {
			h, err := in.Next()
			if err == io.EOF {
				return
			}
			var line Line
			listed := err == nil && h.listed()
			if listed {
				line, err = in.indexLine(h, file)
			}
			if (listed || err != nil) && !yield(line, err) {
				return
			}
			var damage *Error
			if err != nil && (!errors.As(err, &damage) || damage.Torn) {
				return
			}
		}
	}
}

// listed reports whether an index has a line for the record.
func (h *Header) listed() bool { return listed(h.Type(), h.Get("Content-Type")) }

func listed(t Type, media string) bool {
	switch t {
	case Info, Request:
		return false
	case Metadata, Resource:
		return media != FieldsMedia
	}
	return true
}

// lineOf makes the line of a record, but for its place. Block is read as far as
// the head of an http answer.
func lineOf(t Type, url, date, media, digest string, size int64, block io.Reader) (Line, error) {
	l := Line{Key: escape(Key(url), " "), Timestamp: timestamp(date), URL: url, Media: media}
	if _, sum, ok := strings.Cut(digest, ":"); ok {
		l.Digest = sum
	}
	if (t == Response || t == Revisit) && isHTTP(media) { // else dns, as some software writes it
		l.Media = ""
		if size > 0 {
			var err error
			if l.Status, l.Media, err = statusOf(block); err != nil {
				return Line{}, err
			}
		}
	}
	if t == Revisit {
		l.Media = "warc/revisit"
	}
	return l, nil
}

// line is that of a record that is about to be written, zero where it has none
// or its block can be read only once.
func (r *Record) line() (Line, error) {
	body, again := r.Body.(io.ReadSeeker)
	if !listed(r.Type, r.Media) || r.Body != nil && !again {
		return Line{}, nil
	}
	var start int64
	var err error
	if again {
		if start, err = body.Seek(0, io.SeekCurrent); err != nil {
			return Line{}, err
		}
	}
	l, err := lineOf(r.Type, target(r.URL), formatDate(r.Date), r.Media, r.PayloadDigest, r.Size, body)
	if err == nil && again {
		_, err = body.Seek(start, io.SeekStart)
	}
	return l, err
}

func (r *Reader) indexLine(h *Header, file string) (Line, error) {
	l, err := lineOf(h.Type(), h.Target(), h.Get("WARC-Date"), h.Get("Content-Type"), h.Get("WARC-Payload-Digest"), h.Length, r)
	if err != nil {
		return Line{}, err
	}
	l.Offset, l.File = h.Offset, file
	if _, err := io.Copy(io.Discard, r); err != nil {
		return l, err
	}
	l.Length = r.src.offset() - h.Offset // warcio leaves out the line ends where nothing is packed
	packed := r.src.packed
	length, err := r.Finish()
	if packed {
		l.Length = length
	}
	return l, err
}

// statusOf reads status and media type from the head of an http answer.
func statusOf(block io.Reader) (status, media string, err error) {
	code, fields, err := httpHead(block)
	if code > 0 {
		status = strconv.Itoa(code)
	}
	media, _, _ = strings.Cut(strings.Join(fields.Values("Content-Type"), ", "), ";")
	return status, strings.TrimSpace(media), err
}

// isHTTP reports whether a block of that type is an http message.
func isHTTP(contentType string) bool {
	return strings.HasPrefix(strings.ToLower(contentType), "application/http")
}

// timestamp is the date of an index: all digits up to the second.
func timestamp(date string) string {
	digits := strings.NewReplacer("-", "", ":", "", "T", "").Replace(date)
	return escape(digits[:min(len(digits), 14)], " ")
}

// Index writes the sorted lines of archives, which are named by path; the
// lines have their base names. What is torn or damaged is left out: all such
// errors come back joined, the index is written nonetheless.
func Index(w io.Writer, paths ...string) error {
	var s Sorter
	defer s.Close()
	var damage []error
	for _, path := range paths {
		f, err := regularfile.Open(path)
		if err != nil {
			return local(err)
		}
		for line, err := range Lines(filepath.Base(path), f) {
			if err == nil {
				err = s.Add(line.append(nil))
			} else if e := (*Error)(nil); errors.As(err, &e) {
				e.File = path
				damage = append(damage, e)
				err = nil
			}
			if err != nil {
				f.Close()
				return err
			}
		}
		f.Close()
	}
	return errors.Join(writeLines(w, s.Sorted()), errors.Join(damage...))
}

// ParseLine reads a line of a CDXJ index. Its fields may be numbers too, as
// some software writes them.
func ParseLine(line string) (Line, error) {
	key, rest, ok := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
	stamp, object, ok2 := strings.Cut(rest, " ")
	l := Line{Key: key, Timestamp: stamp}
	var f struct{ URL, Mime, Status, Digest, Length, Offset, Filename word }
	if !ok || !ok2 || json.Unmarshal([]byte(object), &f) != nil {
		return l, fetch.Protocol.Errorf("%.80q is no line of an index", line)
	}
	l.URL, l.Media, l.Status, l.Digest, l.File = string(f.URL), string(f.Mime), string(f.Status), string(f.Digest), string(f.Filename)
	var err error
	if l.Length, err = f.Length.number(); err == nil {
		l.Offset, err = f.Offset.number()
	}
	return l, err
}

// word is a string in JSON, or a number.
type word string

// UnmarshalJSON takes nothing else.
func (w *word) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		return json.Unmarshal(text, (*string)(w))
	}
	var n json.Number
	err := json.Unmarshal(text, &n)
	*w = word(n)
	return err
}

func (w word) number() (int64, error) {
	n, err := strconv.ParseUint(cmp.Or(string(w), "0"), 10, 62)
	if err != nil {
		return 0, fetch.Protocol.Errorf("%.40q is no place in a file", string(w))
	}
	return int64(n), nil
}
