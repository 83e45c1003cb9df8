package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/anyurl/fetch/internal/base/sqlite"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// OpenClock is like Open, with a clock.
var OpenClock = open

// LimitPages limits the database of f to the given number of pages of 4 KiB.
// Beyond the limit, SQLite reports a full disk.
func LimitPages(ctx context.Context, f frontier.Frontier, pages int) error {
	e := f.(*engine)
	s, err := e.acquire(ctx, e.writer)
	if err != nil {
		return err
	}
	defer func() { e.writer <- s }()
	var now int
	return s.Scan(fmt.Sprintf("pragma max_page_count = %d", pages), nil, &now)
}

// SealRows stores a digest of the rows of the database at path, without an
// upgrade of the database.
func SealRows(path string) error {
	conn, err := sqlite.Open(dataSource(path))
	if err != nil {
		return err
	}
	s := &session{conn}
	rows, err := s.digestRows()
	if err == nil {
		err = s.Exec("update seal set rows=?", rows)
	}
	return errors.Join(err, s.Close())
}

// OpenImmutable opens the database at path as on a read-only medium.
func OpenImmutable(path string) (frontier.Frontier, error) {
	e, err := newEngine(path, time.Now, true)
	if err != nil {
		return nil, err
	}
	return e, nil
}
