package frontier

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/anyurl/fetch/internal/regularfile"
	"github.com/anyurl/fetch/internal/sqlite"
)

// Open opens or makes a frontier. dsn is a path, with or without "sqlite:"
// before it, or "mem:" for one in memory, which ends with Close.
//
// Several processes may open one file, if it lies on a disk of this machine;
// one process with many goroutines is faster.
func Open(ctx context.Context, dsn string) (Frontier, error) {
	return open(ctx, dsn, time.Now)
}

func open(ctx context.Context, dsn string, now func() time.Time) (Frontier, error) {
	engine, rest, _ := strings.Cut(dsn, ":")
	switch {
	case engine == "mem" && rest == "":
		return openSQLite(ctx, "", now)
	case engine == "sqlite" && rest != "":
		return openSQLite(ctx, rest, now)
	case dsn == "" || len(engine) > 1 && len(engine) < len(dsn) && !strings.ContainsAny(engine, `/\.`):
		return nil, fmt.Errorf("frontier: no engine for %q: there are mem: and sqlite:PATH", dsn)
	}
	return openSQLite(ctx, dsn, now)
}

const (
	application = 0x66746366 // marks the file as ours
	version     = 2          // of the schema, for new files; one of version 1 stays so
	readers     = 4
)

// openSQLite opens the file path, or a database in memory if it is empty.
func openSQLite(ctx context.Context, path string, now func() time.Time) (_ Frontier, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e := &engine{now: now, writer: make(chan *session, 1), done: make(chan struct{})}
	defer func() {
		if err != nil {
			e.shut()
			err = fmt.Errorf("frontier %s: %w", cmp.Or(path, "in memory"), fault(err))
		}
	}()
	if err = ownFiles(path); err != nil {
		return nil, err
	}
	w, err := e.connect(path, "cache_size(-65536)",
		"wal_autocheckpoint(8192)", "journal_size_limit(67108864)")
	if err != nil {
		return nil, err
	}
	e.writer <- w
	if err = migrate(w); err != nil {
		return nil, err
	}
	if path == "" {
		e.readers = e.writer // a database in memory has one connection
		return e, nil
	}
	e.readers = make(chan *session, readers)
	for range readers {
		r, err := e.connect(path, "cache_size(-4096)", "query_only(1)")
		if err != nil {
			return nil, err
		}
		e.readers <- r
	}
	return e, nil
}

// ownFiles returns an error if the database at path or one of the files that
// SQLite keeps beside it is a link, has another
// hard link, or is a device: SQLite would write through it.
func ownFiles(path string) error {
	if path == "" {
		return nil
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		info, err := os.Lstat(path + suffix)
		if err != nil || info.IsDir() {
			continue // SQLite reports it
		}
		if err := regularfile.CheckSingleLink(path+suffix, info); err != nil {
			return err
		}
	}
	return nil
}

// dataSource is a file: URI, in which a path may hold any character.
func dataSource(path string) string {
	if path == "" {
		return "file::memory:"
	}
	path = filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" {
		path = "/" + path
	}
	u := url.URL{Path: path}
	return "file:" + strings.TrimPrefix(u.EscapedPath(), "./")
}

// connect makes a connection of its own.
func (e *engine) connect(path string, pragmas ...string) (*session, error) {
	conn, err := sqlite.Open(dataSource(path))
	if err != nil {
		return nil, err
	}
	s := &session{conn}
	e.sessions = append(e.sessions, s)
	for _, p := range append([]string{"busy_timeout(20000)", "temp_store(memory)"}, pragmas...) {
		if err := s.Script("pragma " + p); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// migrate brings the tables to this version. Of a file that is not for this
// program nothing is changed.
func migrate(s *session) error {
	if _, err := inspect(s); err != nil {
		return err
	}
	var mode string
	if err := s.Scan("pragma journal_mode(wal)", nil, &mode); err != nil {
		return err
	}
	return s.transact(func() error {
		empty, err := inspect(s)
		if err != nil || !empty {
			return err
		}
		return s.Script(schema + fmt.Sprintf("pragma application_id = %d; pragma user_version = %d;", application, version))
	})
}

// inspect reports whether there is nothing yet. What there is must be ours.
func inspect(s *session) (empty bool, err error) {
	var id, have, tables int
	err = errors.Join(s.Scan("pragma application_id", nil, &id), s.Scan("pragma user_version", nil, &have),
		s.Scan("select count(*) from sqlite_schema", nil, &tables))
	switch {
	case err != nil:
		return false, err
	case tables == 0 && id == 0:
		return true, nil
	case id != application:
		return false, errors.New("the database is not a frontier")
	case have > version:
		return false, fmt.Errorf("the database has version %d of the tables: a newer fetch wrote it; this one knows %d", have, version)
	}
	return false, ownSchema(s, have)
}
