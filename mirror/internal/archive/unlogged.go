package archive

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// confirmLog syncs the journal and removes its lines from the database. No
// transaction may add lines meanwhile.
func (a *Archive) confirmLog(ctx context.Context) error {
	if err := a.journal.sync(); err != nil {
		return err
	}
	return a.frontier.Logged(ctx)
}

// maxUnlogged is the maximum size in bytes of the lines that restoreLog reads
// from a database.
const maxUnlogged = 64 << 20

// restoreLog appends the lines to the journal that only the database contains,
// because a process was killed after a transaction. If restoreLog is
// interrupted, its next call appends the remaining lines.
func (a *Archive) restoreLog(ctx context.Context) error {
	var lines [][]byte
	size := 0
	for line, err := range a.frontier.Unlogged(ctx) {
		if err != nil {
			return err
		}
		object, rest := cutChecksum(bytes.TrimSuffix(line, []byte("\n")))
		if size += len(line); object == nil || len(rest) > 0 || bytes.IndexByte(line, '\n') != len(line)-1 || size > maxUnlogged {
			return fmt.Errorf("%w: it has an invalid line of %s", frontier.ErrDamaged, journalFile)
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return nil
	}
	missing, err := a.journal.missing(lines)
	if err == nil {
		err = a.journal.write(bytes.Join(missing, nil))
	}
	if err == nil {
		err = a.confirmLog(ctx)
	}
	return err
}

// missing returns the lines that the journal does not contain.
func (j *journal) missing(lines [][]byte) (missing [][]byte, err error) {
	found := make(map[string]bool, len(lines))
	for _, line := range lines {
		found[string(bytes.TrimSuffix(line, []byte("\n")))] = false
	}
	in := bufio.NewReaderSize(io.NewSectionReader(j.file, 0, math.MaxInt64), 64<<10)
	for {
		line, _, err := readJournalLine(in)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if _, known := found[string(line)]; known {
			found[string(line)] = true
		}
	}
	for _, line := range lines {
		if !found[string(bytes.TrimSuffix(line, []byte("\n")))] {
			missing = append(missing, line)
		}
	}
	return missing, nil
}
