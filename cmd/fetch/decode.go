package main

import (
	"io"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/rfc822"
	"github.com/anyurl/fetch/internal/tty"
	"github.com/anyurl/fetch/schemes/nntp"
)

// decode writes the file that the messages of a response hold: one message the
// whole of it or a part, which note then tells; a range of articles all of its
// parts in their order, perhaps with others between them that hold none.
func decode(w io.Writer, resp *fetch.Response, note func(format string, args ...any)) error {
	var d decoding
	for message, err := range nntp.Messages(resp.Media, resp.Body) {
		if err == nil {
			err = d.add(w, message)
		}
		if err != nil {
			return err
		}
	}
	whole := d.first == 0 && (d.size < 0 || d.next == d.size)
	switch {
	case d.parts == 0:
		return fetch.NotFound.Errorf("no file encoded by yEnc or uuencode")
	case !whole && d.messages > 1:
		return fetch.Truncated.Errorf("bytes %d to %d of %d of the file came", d.first, d.next, d.size)
	case !whole:
		note("a part of %s: bytes %d to %d of %d", tty.Escape(d.name), d.first, d.next, d.size)
	}
	return nil
}

// A decoding is a file on its way.
type decoding struct {
	name            string
	first, next     int64 // the bytes that have come: up to but not including next
	size            int64 // -1: nobody tells
	parts, messages int
}

// add writes the part that a message holds.
func (d *decoding) add(w io.Writer, message io.Reader) error {
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
		return fetch.Mismatch.Errorf("parts of two files: %s and %s", tty.Escape(d.name), tty.Escape(f.Name))
	case f.Offset != d.next:
		return fetch.Mismatch.Errorf("part %d of the file begins at byte %d, where %d is due", f.Part, f.Offset, d.next)
	}
	n, err := io.Copy(w, f.Body)
	d.next += n
	d.parts++
	return err
}
