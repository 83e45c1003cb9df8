package rfc822

import (
	"io"

	"github.com/anyurl/fetch/fetch"
)

// A File is an encoded file found by [Decode].
type File struct {
	Name string // file name from the sender, not validated
	Size int64  // size of the complete file in bytes, or -1 if unknown

	// Part and Total are the number of this part and of all parts of a file in
	// several articles. Zero means unknown. Offset is the position of this part
	// in the file, in bytes.
	Part, Total int
	Offset      int64

	// Body returns io.EOF only after the end marker of the encoding, if size
	// and checksum are correct. Otherwise it returns an error of fault
	// Truncated or Mismatch.
	Body io.Reader
}

// Decode returns the first file in r that is encoded with yEnc, uuencode or
// uuencode base64 ("begin-base64"). Reading Body reads r. If r contains no
// encoded file, Decode returns an error of fault NotFound.
func Decode(r io.Reader) (*File, error) {
	in := newLines(r)
	for {
		text, complete, err := in.next()
		if err == io.EOF {
			return nil, fetch.NotFound.Errorf("no file in yEnc, uuencode or base64 encoding")
		}
		if err != nil {
			return nil, err
		}
		if !complete {
			continue
		}
		for _, begin := range []func(string, *lines) (*File, bool, error){parseYEncBegin, parseUUBegin} {
			if f, ok, err := begin(string(text), in); ok || err != nil {
				return f, err
			}
		}
	}
}

// truncated replaces io.EOF by an error of fault Truncated.
func truncated(err error) error {
	if err == io.EOF {
		return fetch.Truncated.Errorf("encoded file is truncated: %w", io.ErrUnexpectedEOF)
	}
	return err
}
