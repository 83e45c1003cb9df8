package clientflags

import (
	"io"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/format/rfc822"
	"github.com/anyurl/fetch/schemes/nntp"
)

// decodeFile decodes the yEnc or uuencoded file in the messages of resp and
// writes the file to w. Several messages must contain all parts of the file, in
// order. Messages without a part are skipped. A single message may contain only
// a part of the file, which is reported by calling note.
func decodeFile(w io.Writer, resp *fetch.Response, note func(format string, args ...any)) error {
	var d decodedFile
	for message, err := range nntp.Messages(resp.Media, resp.Body) {
		if err == nil {
			err = d.add(w, message)
		}
		if err != nil {
			return err
		}
	}
	complete := d.first == 0 && (d.size < 0 || d.next == d.size)
	switch {
	case d.parts == 0:
		return fetch.NotFound.Errorf("the message contains no yEnc or uuencoded file")
	case !complete && d.messages > 1:
		return fetch.Truncated.Errorf("the articles contain only bytes %d to %d of %d of the file", d.first, d.next, d.size)
	case !complete:
		note("a part of %s: bytes %d to %d of %d", tty.Escape(d.name), d.first, d.next, d.size)
	}
	return nil
}

// A decodedFile tracks how much of a yEnc or uuencoded file has been decoded.
type decodedFile struct {
	name            string
	first, next     int64 // the decoded bytes are first to next-1
	size            int64 // size of the file in bytes, or -1 if unknown
	parts, messages int   // number of parts and messages so far
}

// add decodes the file part in a message and writes the decoded bytes to w. It
// skips a message that contains no part.
func (d *decodedFile) add(w io.Writer, message io.Reader) error {
	d.messages++
	f, err := rfc822.Decode(message)
	switch {
	case fetch.FaultOf(err) == fetch.NotFound:
		return nil
	case err != nil:
		return err
	case d.parts == 0:
		d.name, d.first, d.next, d.size = f.Name, f.Offset, f.Offset, f.Size
	case f.Name != d.name:
		return fetch.Mismatch.Errorf("the articles contain parts of two files: %s and %s", tty.Escape(d.name),
			tty.Escape(f.Name))
	case f.Offset != d.next:
		return fetch.Mismatch.Errorf("part %d of the file starts at byte %d, want byte %d", f.Part, f.Offset, d.next)
	}
	n, err := io.Copy(w, f.Body)
	d.next += n
	d.parts++
	return err
}
