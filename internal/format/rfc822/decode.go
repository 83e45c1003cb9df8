package rfc822

import (
	"io"

	"github.com/anyurl/fetch/fetch"
)

// A File is an encoded file that [Decode] has found in a message.
type File struct {
	Name string // file name chosen by the sender, not validated
	Size int64  // size of the complete file in bytes, or -1 if unknown

	// Part and Total are the part number and the number of parts if a file is
	// split over several articles. Zero means that the number is unknown.
	// Offset is the position of this part in the file, in bytes.
	Part, Total int
	Offset      int64

	// Body reads the decoded file. It returns io.EOF only after the end marker
	// of the encoding, and only if size and checksum are correct. Otherwise it
	// returns a [fetch.Truncated] or [fetch.Mismatch] error.
	Body io.Reader
}

// Decode finds the first file in r that is encoded with yEnc, uuencode or
// base64 ("begin-base64"). The returned File reads its Body from r. If r
// contains no encoded file, Decode returns a [fetch.NotFound] error.
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

// truncated returns a fetch.Truncated error in place of io.EOF. It returns
// other errors unchanged.
func truncated(err error) error {
	if err == io.EOF {
		return fetch.Truncated.Errorf("encoded file is truncated: %w", io.ErrUnexpectedEOF)
	}
	return err
}
