package archive

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"iter"
	"os"

	"github.com/anyurl/fetch/internal/base/regularfile"
)

// maxJournalLine is the maximum length of a line that readJournalLine accepts.
const maxJournalLine = 1 << 20

// A line of the journal ends with the member checksumKey, which contains the
// CRC-32 checksum of all bytes before it in hexadecimal digits.
const (
	checksumKey  = `,"crc32":"`
	checksumSize = len(checksumKey) + 8 + len(`"}`)
)

// appendChecksum inserts the checksum as the last field of a JSON object, before
// its closing brace. The object must not be empty. The line ends with a line break.
func appendChecksum(line []byte) []byte {
	line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("}"))
	return append(appendChecksumOf(line, line), '\n')
}

// appendChecksumOf appends to b the checksum and the end of the line that
// starts with the given bytes.
func appendChecksumOf(b, line []byte) []byte {
	var sum [4]byte
	binary.BigEndian.PutUint32(sum[:], crc32.ChecksumIEEE(line))
	return append(hex.AppendEncode(append(b, checksumKey...), sum[:]), `"}`...)
}

// storedLines returns the lines of the journal in the directory root, like
// journalLines. If there is no journal, it returns no lines.
func storedLines(root *os.Root) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		f, err := regularfile.OpenIn(root, journalFile)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		journalLines(f)(yield)
	}
}

// hasDamagedLines reports whether the journal in the directory root has damaged
// lines.
func hasDamagedLines(root *os.Root) (bool, error) {
	for line, err := range storedLines(root) {
		if err != nil || line == nil {
			return err == nil, err
		}
	}
	return false, nil
}

// journalLines returns the lines of a journal without their checksums. It
// returns nil for a damaged line. Earlier versions wrote no checksums.
// Therefore lines without a checksum are accepted at the beginning, up to the
// first line that has one. Each line is valid only until the next iteration.
func journalLines(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		hasChecksums := false
		for {
			line, complete, err := readJournalLine(in)
			if err != nil {
				if err != io.EOF {
					yield(nil, err)
				}
				return
			}
			found := bytes.Contains(line, []byte(checksumKey))
			if complete && !found && !hasChecksums {
				if !yield(line, nil) {
					return
				}
				continue
			}
			hasChecksums = hasChecksums || found
			for len(line) > 0 || !complete {
				object, rest := cutChecksum(line)
				if complete = true; !yield(object, nil) {
					return
				}
				line = rest
			}
		}
	}
}

// cutChecksum returns the object at the beginning of line without its checksum,
// and the bytes after it. If the line break after an object is damaged, these
// bytes are one damaged byte and the next object. If the object is damaged,
// cutChecksum returns nil.
func cutChecksum(line []byte) (object, rest []byte) {
	at := bytes.Index(line, []byte(checksumKey))
	end := at + checksumSize
	if at < 0 || end > len(line) || !bytes.Equal(line[at:end], appendChecksumOf(nil, line[:at])) {
		return nil, nil
	}
	return append(line[:at:at], '}'), line[min(end+1, len(line)):]
}

// readJournalLine reads a line without its line break. It returns no bytes for
// a line that is too long. The line is complete if it has a line break.
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
