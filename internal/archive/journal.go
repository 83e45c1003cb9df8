package archive

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"

	"github.com/anyurl/fetch/internal/regularfile"
)

// A journal writes crawl.jsonl, a log of the visits. Rebuild and Visits read
// this file. Each line ends with a checksum.
type journal struct {
	file *os.File
	w    *bufio.Writer
	line bytes.Buffer
	json *json.Encoder // writes to line
}

func openJournal(root *os.Root) (*journal, error) {
	f, err := regularfile.OpenFileIn(root, journalFile, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	if err := truncatePartialLine(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	j := &journal{file: f, w: bufio.NewWriterSize(f, 64<<10)}
	j.json = json.NewEncoder(&j.line)
	return j, nil
}

// truncatePartialLine removes an incomplete line from the end of f. A killed
// process or a full disk can leave an incomplete line.
func truncatePartialLine(f *os.File) error {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	var block [4 << 10]byte
	for ends := size; ends > 0; {
		part := block[:min(ends, int64(len(block)))]
		begins := ends - int64(len(part))
		if _, err := f.ReadAt(part, begins); err != nil {
			return err
		}
		if ends = begins + int64(bytes.LastIndexByte(part, '\n')) + 1; ends == size {
			return nil
		} else if ends > begins {
			return f.Truncate(ends)
		}
	}
	return f.Truncate(0)
}

// add appends v to the journal as a line of JSON. If writing the line fails,
// the next call of flush returns the error.
func (j *journal) add(v any) {
	j.line.Reset()
	if j.json.Encode(v) != nil {
		return
	}
	j.w.Write(appendChecksum(j.line.Bytes()))
}

func (j *journal) flush() error { return j.w.Flush() }

func (j *journal) close() error { return errors.Join(j.w.Flush(), j.file.Sync(), j.file.Close()) }
