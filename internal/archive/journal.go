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

// A journal writes crawl.jsonl, a log of the run. Fetch does not read this
// file.
type journal struct {
	file *os.File
	w    *bufio.Writer
	json *json.Encoder // writes to w
}

func openJournal(root *os.Root) (*journal, error) {
	f, err := regularfile.OpenFileIn(root, journalFile, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	if err := truncatePartialLine(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	w := bufio.NewWriterSize(f, 64<<10)
	return &journal{file: f, w: w, json: json.NewEncoder(w)}, nil
}

// truncatePartialLine removes an unfinished line from the end of f. A killed
// process or a full disk leaves such a line, and the next line must not
// continue it.
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

// add appends v, a struct of plain fields, as a line. A write error is
// returned by the next flush.
func (j *journal) add(v any) { j.json.Encode(v) }

func (j *journal) flush() error { return j.w.Flush() }

func (j *journal) close() error { return errors.Join(j.w.Flush(), j.file.Close()) }
