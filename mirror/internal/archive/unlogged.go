package archive

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
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
	missing, err := a.journal.repair(lines)
	if err == nil {
		err = a.journal.write(bytes.Join(missing, nil))
	}
	if err == nil {
		err = a.confirmLog(ctx)
	}
	return err
}

// repair returns the lines that the journal does not contain. The parameter lines
// contains all lines of visits that may be unsynced. If a power failure has
// damaged the unsynced end of the journal, repair removes the damaged bytes.
func (j *journal) repair(lines [][]byte) (missing [][]byte, err error) {
	end := journalEnd{damage: -1, unsynced: make(map[string]bool, len(lines))}
	for _, line := range lines {
		end.unsynced[string(line)] = false
	}
	in := bufio.NewReaderSize(io.NewSectionReader(j.file, 0, math.MaxInt64), 64<<10)
	for {
		line, complete, err := readJournalLine(in)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		end.add(line, complete)
	}
	if end.damage >= 0 {
		if err := j.file.Truncate(end.damage); err != nil {
			return nil, err
		}
		if err := j.write(bytes.Join(end.kept, nil)); err != nil {
			return nil, err
		}
	}
	for _, line := range lines {
		if !end.unsynced[string(line)] {
			missing = append(missing, line)
		}
	}
	return missing, nil
}

// A journalEnd finds the unsynced lines at the end of a journal, and the bytes
// that a power failure has damaged there.
type journalEnd struct {
	unsynced map[string]bool // lines of visits that may be unsynced, and whether the journal contains them
	sums     bool            // whether a line with a checksum was found
	at       int64           // offset of the next line
	lost     bool            // whether at is unknown, because a line was too long
	damage   int64           // offset of the first damaged line after the last line that is synced, or -1
	kept     [][]byte        // intact lines after the damage
	size     int             // bytes in kept
}

// add adds the next line of the journal, without its line break.
func (e *journalEnd) add(line []byte, complete bool) {
	start := e.at
	whole := append(bytes.Clone(line), '\n')
	e.at += int64(len(whole))
	e.lost = e.lost || line == nil
	_, known := e.unsynced[string(whole)]
	hasSum := bytes.Contains(line, []byte(checksumKey))
	object, rest := cutChecksum(line)
	intact := complete && (object != nil && len(rest) == 0 || !hasSum && !e.sums && json.Valid(line))
	e.sums = e.sums || hasSum
	switch {
	case known:
		e.unsynced[string(whole)] = true
	case intact && (bytes.Contains(line, []byte(`"url":`)) || !hasSum):
		e.damage, e.kept, e.size = -1, nil, 0 // the line is synced, because the database does not contain it
		return
	}
	switch {
	case !intact && e.damage < 0 && !e.lost:
		e.damage = start
	case intact && e.damage >= 0:
		if e.size += len(whole); e.size > maxUnlogged {
			e.damage, e.kept = -1, nil
			return
		}
		e.kept = append(e.kept, whole)
	}
}
