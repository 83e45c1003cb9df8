// Package entries reads and writes listings as JSON lines, with one fetch.Entry
// per line. Schemes whose protocol has no listing format use it: file, imap,
// prospero and the search results of wais.
//
// A driver returns [NewReader] as the Body of a Response with the media type
// [Media]. Its Scheme sets the field Menu to [Menu].
package entries

import (
	"encoding/json"
	"errors"
	"io"
	"iter"
	"mime"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/uri"
)

// Media is the media type of a listing.
const Media = "application/x-ndjson; profile=fetch-entries"

// MaxLine is the maximum length of an encoded entry in bytes.
const MaxLine = 256 << 10

// IsMedia reports whether media is the media type [Media], ignoring differences
// in white space and quoting.
func IsMedia(media string) bool {
	t, params, err := mime.ParseMediaType(media)
	return err == nil && t == "application/x-ndjson" && params["profile"] == "fetch-entries"
}

// NewReader returns a reader that encodes the entries returned by next. The
// first error of next ends the listing, and io.EOF marks its regular end. The
// reader holds one entry at a time and calls next only during Read.
//
// A Read returns when its buffer is full, or after one second if it has data.
// Slow listings therefore return data regularly, so that the Client can enforce
// its limit on the speed of a body.
func NewReader(next func() (fetch.Entry, error)) io.Reader {
	return &reader{next: next}
}

type reader struct {
	next func() (fetch.Entry, error)
	line []byte // buffer to which rest refers
	rest []byte // not yet returned by Read
	err  error
}

func (r *reader) Read(p []byte) (n int, err error) {
	start := time.Now()
	for n < len(p) && (n == 0 || time.Since(start) < time.Second) {
		if len(r.rest) == 0 {
			r.fill()
		}
		if len(r.rest) == 0 {
			break
		}
		k := copy(p[n:], r.rest)
		n, r.rest = n+k, r.rest[k:]
	}
	if n == 0 && len(p) > 0 {
		return 0, r.err
	}
	return n, nil
}

func (r *reader) fill() {
	if r.err != nil {
		return
	}
	var e fetch.Entry
	if e, r.err = r.next(); r.err != nil {
		return
	}
	if r.line, r.err = Append(r.line[:0], e); r.err == nil {
		r.rest = r.line
	}
}

// Append appends the encoded line of e to dst. JSON cannot represent a name
// that is invalid UTF-8, so Append replaces the invalid bytes. The URL of e
// must then contain the exact name.
func Append(dst []byte, e fetch.Entry) ([]byte, error) {
	text, err := json.Marshal(e)
	if err != nil {
		return dst, fetch.Internal.With(err)
	}
	if len(text) > MaxLine {
		return dst, fetch.TooLarge.Errorf("entry of %d bytes exceeds the limit of %d bytes", len(text), MaxLine)
	}
	return append(append(dst, text...), '\n'), nil
}

// Menu parses a listing. The URL of the listing is not used, because the URLs
// of the entries are absolute. The first invalid line ends the sequence with an
// error.
func Menu(_ uri.URI, media string, r io.Reader) iter.Seq2[fetch.Entry, error] {
	return func(yield func(fetch.Entry, error) bool) {
		if !IsMedia(media) {
			yield(fetch.Entry{}, fetch.Unsupported.Errorf("media type %q is not a listing of entries", media))
			return
		}
		lines := line.NewReader(r)
		for {
			e, err := readEntry(lines)
			if err == io.EOF || !yield(e, err) || err != nil {
				return
			}
		}
	}
}

func readEntry(lines *line.Reader) (e fetch.Entry, err error) {
	text, _, err := lines.ReadLine(MaxLine)
	switch {
	case errors.Is(err, line.ErrTooLong):
		return e, fetch.Protocol.Errorf("entry exceeds %d bytes", MaxLine)
	case err != nil:
		return e, err
	}
	if err := json.Unmarshal(text, &e); err != nil {
		return fetch.Entry{}, fetch.Protocol.Errorf("invalid entry in a listing: %w", err)
	}
	e.Size = max(e.Size, -1)
	return e, nil
}
