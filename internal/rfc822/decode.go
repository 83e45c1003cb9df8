package rfc822

import (
	"io"

	"github.com/anyurl/fetch/fetch"
)

// A File is a file that [Decode] finds in a text.
type File struct {
	Name string // that the sender gave
	Size int64  // of the complete file in bytes; -1 if unknown

	// Of a file in several articles: Body is Part of Total (zero if unknown)
	// and begins at byte Offset.
	Part, Total int
	Offset      int64

	// Body ends with io.EOF only where the encoding's own end was met, with
	// the length and the sum that are given there: else with an error of Fault
	// Truncated or Mismatch.
	Body io.Reader
}

// Decode finds the first file encoded in r by yEnc, uuencode or base64 between
// "begin-base64" and "====". It reads r as far as Body is read. A text without
// such a file is an error of Fault NotFound.
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

// cut says that the input ended within an encoded file.
func truncated(err error) error {
	if err == io.EOF {
		return fetch.Truncated.Errorf("encoded file is truncated: %w", io.ErrUnexpectedEOF)
	}
	return err
}
