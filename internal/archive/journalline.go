package archive

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
)

// maxJournalLine is the maximum length of a line that readJournal accepts.
const maxJournalLine = 1 << 20

// A line of the journal ends with the member checksumKey, which contains the
// CRC-32 checksum of all bytes before it in hexadecimal digits.
const (
	checksumKey  = `,"crc32":"`
	checksumSize = len(checksumKey) + 8 + len(`"}`)
)

// appendChecksum inserts the checksum at the end of a JSON object, which ends
// with a line break. The object must not be empty.
func appendChecksum(line []byte) []byte {
	line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("}"))
	return fmt.Appendf(line, "%s%08x\"}\n", checksumKey, crc32.ChecksumIEEE(line))
}

// cutChecksum removes the checksum from a line without its line break. The
// result found is false if the line has no checksum, and valid reports whether
// the checksum matches.
func cutChecksum(line []byte) (object []byte, found, valid bool) {
	at := len(line) - checksumSize
	if at < 0 || !bytes.HasPrefix(line[at:], []byte(checksumKey)) || !bytes.HasSuffix(line, []byte(`"}`)) {
		return line, false, false
	}
	sum := line[at+len(checksumKey) : len(line)-len(`"}`)]
	valid = fmt.Sprintf("%08x", crc32.ChecksumIEEE(line[:at])) == string(sum)
	return append(line[:at:at], '}'), true, valid
}

// journalLines returns the lines of a journal without their checksums. For a
// damaged line, the line is nil. Earlier versions wrote no checksums. Therefore
// lines without a checksum are accepted at the beginning, up to the first line
// that has one. Each line is valid only until the next iteration.
func journalLines(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		summed := false
		for {
			line, complete, err := readJournalLine(in)
			if err != nil {
				if err != io.EOF {
					yield(nil, err)
				}
				return
			}
			object, found, valid := cutChecksum(line)
			switch summed = summed || valid; {
			case !complete || found && !valid || summed && !found:
				object = nil
			}
			if !yield(object, nil) {
				return
			}
		}
	}
}

// readJournalLine reads a line without its line break. It returns no bytes for
// a line that is too long. The result complete is false if the line has no line
// break.
func readJournalLine(in *bufio.Reader) (line []byte, complete bool, err error) {
	tooLong := false
	for {
		part, err := in.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > maxJournalLine; !tooLong {
			line = append(line, part...)
		} else {
			line = nil
		}
		switch {
		case err == nil:
			return bytes.TrimSuffix(line, []byte("\n")), !tooLong, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case err == io.EOF && (len(line) > 0 || tooLong):
			return line, false, nil
		default:
			return nil, false, err
		}
	}
}
