package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/internal/base/sqlite"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// Open opens a Frontier and creates its database if necessary. The dsn is the
// path of a database file, optionally with the prefix "sqlite:". The dsn "mem:"
// means a new database in memory, which Close deletes.
//
// Several processes can open the same file on a local disk. However, one
// process with many goroutines is faster.
func Open(ctx context.Context, dsn string) (frontier.Frontier, error) {
	return open(ctx, dsn, time.Now)
}

func open(ctx context.Context, dsn string, now func() time.Time) (frontier.Frontier, error) {
	engine, rest, _ := strings.Cut(dsn, ":")
	switch {
	case engine == "mem" && rest == "":
		return openSQLite(ctx, "", now)
	case engine == "sqlite" && rest != "":
		return openSQLite(ctx, rest, now)
	case dsn == "" || len(engine) > 1 && len(engine) < len(dsn) && !strings.ContainsAny(engine, `/\.`):
		return nil, fmt.Errorf("frontier: unknown engine %q: use mem: or sqlite:PATH", dsn)
	}
	return openSQLite(ctx, dsn, now)
}

const (
	applicationID = 0x66746366 // identifies a database as a frontier
	schemaVersion = 6          // version of new databases; older databases are upgraded
	readVersion   = 5          // first version that is read without an upgrade
	readers       = 4          // number of read-only connections
)

// openSQLite opens the SQLite database at path. If path is empty, it creates a
// database in memory. If the directory cannot be changed, for example on a
// read-only medium, it opens the database for reading only.
func openSQLite(ctx context.Context, path string, now func() time.Time) (frontier.Frontier, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err := checkFiles(path)
	if err == nil {
		err = checkUnopened(path)
	}
	var e *engine
	if err == nil {
		e, err = newEngine(path, now, false)
	}
	if info, _ := os.Lstat(path); sqlite.IsReadOnly(err) && info != nil && info.Mode().IsRegular() {
		// SQLite opens an immutable database without its log and without locks.
		if _, noLog := os.Lstat(path + "-wal"); errors.Is(noLog, fs.ErrNotExist) {
			e, err = newEngine(path, now, true)
		} else {
			err = fmt.Errorf("%w: a run is active or did not end, so reading needs write permission", err)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("frontier %s: %w", cmp.Or(path, "in memory"), classifyError(err))
	}
	return e, nil
}

// newEngine opens the database at path for writing. If immutable is true, no
// process can change the database.
func newEngine(path string, now func() time.Time, immutable bool) (*engine, error) {
	source := dataSource(path)
	// Readers create no file if the database was moved in the meantime.
	e := &engine{now: now, source: source + "?mode=rw", writer: make(chan *session, 1), done: make(chan struct{})}
	if immutable {
		source += "?mode=ro&immutable=1"
		e.source = source
	}
	// Memory use is bounded, because the caches have a fixed size and temporary
	// files are on disk. The allocator takes 8 KiB for a page of 4 KiB.
	w, err := connect(source, "cache_size(-8192)", "wal_autocheckpoint(8192)", "journal_size_limit(67108864)")
	if err != nil {
		return nil, err
	}
	// The check of the pages evaluates the constraints of all tables, so that it
	// follows the check of the schema.
	if _, err = inspect(w); err == nil {
		err = w.checkTrees()
	}
	if err == nil {
		err = w.checkPages("quick_check")
	}
	if err == nil {
		err = migrate(w, immutable)
	}
	if err != nil {
		w.Close()
		return nil, err
	}
	e.writer <- w
	if path == "" {
		e.readers = e.writer // a database in memory has only one connection
		return e, nil
	}
	e.readers, e.unopened = make(chan *session, readers), make(chan struct{}, readers)
	for range readers {
		e.unopened <- struct{}{}
	}
	return e, nil
}

// checkFiles returns an error if a file of the database is a symbolic link, a
// device, or a file with several hard links. SQLite would modify another file
// through the link.
func checkFiles(path string) error {
	if path == "" {
		return nil
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		info, err := os.Lstat(path + suffix)
		if err != nil || info.IsDir() {
			continue // SQLite reports the error
		}
		if err := regularfile.CheckSingleLink(path+suffix, info); err != nil {
			return err
		}
	}
	return nil
}

// dataSource returns the URI of the database at path, with special characters
// escaped. If path is empty, it returns the URI of a database in memory.
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

// connect opens a connection to the database with the given URI.
func connect(source string, pragmas ...string) (*session, error) {
	conn, err := sqlite.Open(source)
	if err != nil {
		return nil, err
	}
	for _, p := range append([]string{"busy_timeout(20000)", "temp_store(file)"}, pragmas...) {
		if err := conn.Script("pragma " + p); err != nil {
			conn.Close()
			return nil, err
		}
	}
	return &session{conn}, nil
}

// migrate creates the tables in an empty database, and the missing tables in a
// database of an older version. If the database is not a frontier, migrate
// returns an error and does not modify the database. It also returns an error if
// an immutable database lacks a table that a reader needs.
func migrate(s *session, immutable bool) error {
	version, err := inspect(s)
	if err == nil && immutable && version < readVersion {
		err = fmt.Errorf("the database has schema version %d: it must be upgraded, which needs write permission", version)
	}
	if err != nil || immutable {
		return err
	}
	var mode string
	if err := s.Scan("pragma journal_mode(wal)", nil, &mode); err != nil || version == schemaVersion {
		return err
	}
	return s.transact(func() error {
		version, err := inspect(s)
		if err != nil || version == schemaVersion {
			return err
		}
		switch {
		case version == 0:
			err = s.Script(schema + fmt.Sprintf("pragma application_id = %d;", applicationID))
		case version < readVersion:
			err = upgrade(s, version)
		default:
			err = upgradeSealed(s, version)
		}
		if err != nil {
			return err
		}
		return s.Script(fmt.Sprintf("pragma user_version = %d;", schemaVersion))
	})
}

// upgrade creates the tables and the column that the given version lacks. They
// change the digest of the rows, so upgrade removes this digest.
func upgrade(s *session, version int) error {
	all := schemaStatements(schemaVersion)
	if version < tableVersions["layout"] {
		if err := s.Script(all["layout"] + "; insert into layout values (1);"); err != nil {
			return err
		}
	}
	if version < tableVersions["seal"] {
		if err := s.Script(all["seal"] + "; insert into seal default values;"); err != nil {
			return err
		}
	}
	if version < checksumVersion {
		if err := s.Script("alter table capture add column " + checksumColumn); err != nil {
			return err
		}
	}
	if version < tableVersions["control"] {
		if err := s.Script(all["control"] + ";" + all["counter"]); err != nil {
			return err
		}
	}
	return s.Script(all["unlogged"] + "; update seal set rows=null;")
}

// upgradeSealed is like upgrade, but verifies the digest of the rows and replaces
// it, so that it still shows later damage.
func upgradeSealed(s *session, version int) error {
	sealed, err := s.checkRows()
	if err == nil {
		err = upgrade(s, version)
	}
	if err != nil || !sealed {
		return err
	}
	rows, err := s.digestRows()
	if err != nil {
		return err
	}
	return s.Exec("update seal set rows=?", rows)
}

// inspect returns the schema version, or 0 if the database is empty. It returns
// an error if the database contains other tables or a frontier of an unknown
// version.
func inspect(s *session) (version int, err error) {
	var id, tables int
	err = errors.Join(s.Scan("pragma application_id", nil, &id), s.Scan("pragma user_version", nil, &version),
		s.Scan("select count(*) from sqlite_schema", nil, &tables))
	switch {
	case err != nil:
		return 0, err
	case tables == 0 && id == 0:
		return 0, nil
	case id != applicationID:
		return 0, errors.New("the database is not a frontier")
	case version > schemaVersion:
		return 0, fmt.Errorf("the database has schema version %d, written by a newer version of fetch: "+
			"this version supports up to %d", version, schemaVersion)
	case version < 1:
		return 0, fmt.Errorf("%w: it has schema version %d", frontier.ErrDamaged, version)
	}
	return version, checkSchema(s, version)
}
