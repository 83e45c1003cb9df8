// Package entries is the listing of the schemes whose protocols have no
// listing bytes of their own: file, imap, prospero, the results of wais. One
// fetch.Entry a line, as JSON.
//
// A driver gives NewReader as the Body of a Response whose Media is Media,
// and its Scheme has Menu as Menu.
package entries

import (
	"encoding/json"
	"errors"
	"io"
	"iter"
	"mime"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/line"
	"github.com/anyurl/fetch/uri"
)

// Media is the media type of a listing.
const Media = "application/x-ndjson; profile=fetch-entries"

// MaxLine bounds an entry in bytes as JSON.
const MaxLine = 256 << 10

// Is reports whether media is Media, however it is written.
func Is(media string) bool {
	t, params, err := mime.ParseMediaType(media)
	return err == nil && t == "application/x-ndjson" && params["profile"] == "fetch-entries"
}

// NewReader returns the listing of the entries that next returns until its
// first error, io.EOF at the end. It holds one entry at a time and calls next
// only from within Read, as often as it takes to fill the buffer or, where entries
// come slowly, to wait for a second: the Client looks after the speed of a body
// between two Reads.
func NewReader(next func() (fetch.Entry, error)) io.Reader {
	return &reader{next: next}
}

type reader struct {
	next func() (fetch.Entry, error)
	line []byte // backs rest
	rest []byte // not yet given out
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

// Append appends the line of e to dst. JSON cannot hold a name that is not
// UTF-8: what does not fit is replaced, and e.URL is to hold the exact bytes.
func Append(dst []byte, e fetch.Entry) ([]byte, error) {
	text, err := json.Marshal(e)
	if err != nil {
		return dst, fetch.Internal.With(err)
	}
	if len(text) > MaxLine {
		return dst, fetch.TooLarge.Errorf("entry of %d bytes, larger than the limit of %d", len(text), MaxLine)
	}
	return append(append(dst, text...), '\n'), nil
}

// Menu reads a listing. Its URLs are absolute already, so base does not
// count. The first line that is no entry ends it with an error.
func Menu(_ uri.URI, media string, r io.Reader) iter.Seq2[fetch.Entry, error] {
	return func(yield func(fetch.Entry, error) bool) {
		if !Is(media) {
			yield(fetch.Entry{}, fetch.Unsupported.Errorf("media type %q is no listing of entries", media))
			return
		}
		lines := line.NewReader(r)
		for {
			e, err := read(lines)
			if err == io.EOF || !yield(e, err) || err != nil {
				return
			}
		}
	}
}

func read(lines *line.Reader) (e fetch.Entry, err error) {
	text, _, err := lines.ReadLine(MaxLine)
	switch {
	case errors.Is(err, line.ErrTooLong):
		return e, fetch.Protocol.Errorf("entry longer than %d bytes", MaxLine)
	case err != nil:
		return e, err
	}
	if err := json.Unmarshal(text, &e); err != nil {
		return fetch.Entry{}, fetch.Protocol.Errorf("line is no entry: %w", err)
	}
	e.Size = max(e.Size, -1)
	return e, nil
}
