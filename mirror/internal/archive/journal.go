package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync"

	"github.com/anyurl/fetch/internal/base/regularfile"
)

// A journal writes crawl.jsonl, a log of the visits. Rebuild and Visits read
// this file. Each line ends with a checksum. A journal is safe for concurrent
// use.
type journal struct {
	mu       sync.Mutex
	file     *os.File
	unsynced int   // bytes written since the most recent sync
	err      error // first error of a write
}

func openJournal(root *os.Root) (*journal, error) {
	f, err := regularfile.OpenFileIn(root, journalFile, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	if err := truncatePartialLine(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &journal{file: f}, nil
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

// journalLine returns v as a line of JSON with a checksum. It returns nil if v
// cannot be encoded, or if the line would be too long for a reader.
func journalLine(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil || len(text)+checksumSize > maxJournalLine {
		return nil
	}
	return appendChecksum(text)
}

// write appends lines to the journal. After an error, write and sync return
// this error, because the file may end with an incomplete line.
func (j *journal) write(lines []byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		_, j.err = j.file.Write(lines)
		j.unsynced += len(lines)
	}
	return j.err
}

// isLong reports whether the journal has so many unsynced bytes that a sync is
// due.
func (j *journal) isLong() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.unsynced >= syncSize
}

// syncSize is the number of bytes after which the journal is synced. It limits
// the size of the lines in the database.
const syncSize = 1 << 20

func (j *journal) sync() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		j.unsynced, j.err = 0, j.file.Sync()
	}
	return j.err
}

func (j *journal) close() error { return errors.Join(j.sync(), j.file.Close()) }
