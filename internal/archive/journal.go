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

// journal writes crawl.jsonl, which tells people what was done. No program
// of ours reads it.
type journal struct {
	file *os.File
	w    *bufio.Writer
	json *json.Encoder // into w
}

func openJournal(root *os.Root) (*journal, error) {
	f, err := regularfile.OpenFileIn(root, journalFile, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	if err := cutLine(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	w := bufio.NewWriterSize(f, 64<<10)
	return &journal{file: f, w: w, json: json.NewEncoder(w)}, nil
}

// cutLine removes a last line of f that has no end. It is the rest of a kill
// or of a full disk, and a line appended to it could not be read.
func cutLine(f *os.File) error {
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

// add appends v, a struct of plain fields, as a line. An error of the disk is
// that of the next flush.
func (j *journal) add(v any) { j.json.Encode(v) }

func (j *journal) flush() error { return j.w.Flush() }

func (j *journal) close() error { return errors.Join(j.w.Flush(), j.file.Close()) }
