package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/anyurl/fetch/internal/base/sqlite"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

func (e *engine) Check(ctx context.Context) error {
	return e.read(ctx, func(s *session) error {
		err := s.checkPages("integrity_check")
		if err == nil {
			_, err = s.checkRows()
		}
		if err == nil {
			err = s.checkTimes()
		}
		return err
	})
}

// CheckFile returns an error that wraps [ErrDamaged] if the database at path is
// damaged, as [Frontier.Check] does. It reads the complete file.
func CheckFile(ctx context.Context, path string) error {
	f, err := openSQLite(ctx, path, time.Now)
	if err != nil {
		return err
	}
	err = f.Check(ctx)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// maxPages is the maximum number of pages of a database, which is 1 TiB with pages
// of 4 KiB. The check of such a database needs 32 MiB of memory.
const maxPages = 1 << 28

// checkPages verifies the structure of the database. The parameter pragma is
// integrity_check, or quick_check, which does not compare indexes with their
// tables and takes an eighth of the time. In a damaged or forged database, a
// page can be a child of many pages, so that other queries would not end. The
// check needs memory for each page, also for those in the holes of a sparse file.
func (s *session) checkPages(pragma string) error {
	if err := s.checkSize(); err != nil {
		return err
	}
	var problem string
	if err := s.Scan("pragma "+pragma+"(1)", nil, &problem); err != nil {
		return err
	}
	if problem != "ok" {
		return fmt.Errorf("%w: %s", frontier.ErrDamaged, problem)
	}
	return nil
}

// checkSize verifies that the checks of all pages need little memory.
func (s *session) checkSize() error {
	var pages int64
	err := s.Scan("pragma page_count", nil, &pages)
	if err == nil && pages > maxPages {
		err = fmt.Errorf("%w: it has %d pages (limit %d)", frontier.ErrDamaged, pages, maxPages)
	}
	return err
}

// checkTrees verifies the depth of the tables and indexes, and the sizes of the
// entries of indexes. In a forged database, the pragma of checkPages and the
// queries could otherwise need memory of several times its size.
func (s *session) checkTrees() error {
	return s.inTransaction("begin", func() error {
		err := s.checkSize()
		if err == nil {
			err = s.CheckTrees(nil, nil)
		}
		if errors.Is(err, sqlite.ErrTree) {
			err = fmt.Errorf("%w: %w", frontier.ErrDamaged, err)
		}
		return err
	})
}

// checkRows verifies the digest of the rows, if any.
func (s *session) checkRows() (sealed bool, err error) {
	var stored []byte
	if err := s.Scan("select rows from seal", nil, &stored); err != nil || len(stored) == 0 {
		return false, err
	}
	rows, err := s.digestRows()
	if err == nil && !bytes.Equal(rows, stored) {
		err = fmt.Errorf("%w: the rows do not match their digest", frontier.ErrDamaged)
	}
	return true, err
}

// Times of captures, in microseconds, from the year 1 to the year 9999. WARC
// files and the log of visits cannot contain other times.
const (
	firstTime = -62135596800_000_000
	lastTime  = 253402300799_999_999
)

// checkTimes verifies the times of all captures. It finds damage in a database
// without a digest.
func (s *session) checkTimes() error {
	var bad int64
	err := s.Scan(`select count(*) from capture where time not between ?1 and ?2 or modified not between ?1 and ?2`,
		[]any{int64(firstTime), int64(lastTime)}, &bad)
	if err == nil && bad > 0 {
		err = fmt.Errorf("%w: %d captures have an invalid time", frontier.ErrDamaged, bad)
	}
	return err
}

// checkUnopened returns an error if SQLite must not open the database at path.
// SQLite would execute a rollback journal, which can name further files. A
// frontier uses a write-ahead log instead. SQLite would also read a damaged
// schema without end.
func checkUnopened(path string) error {
	if path == "" {
		return nil
	}
	info, err := os.Lstat(path + "-journal")
	if err != nil || info.Size() == 0 {
		if err := sqlite.CheckSchema(path, path+"-wal"); err != nil {
			return fmt.Errorf("%w: %w", frontier.ErrDamaged, err)
		}
		return nil
	}
	return fmt.Errorf("%w: %s-journal is a rollback journal, which fetch did not write: do not trust this archive", frontier.ErrDamaged, path)
}
