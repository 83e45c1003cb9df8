// Package textindex searches for words in the texts of an archive: pages,
// articles, listings and other texts.
//
// [Build] writes the index to a file beside the archive, and [Index.Search]
// searches it. The index has the words of each text and their positions, but not
// the text itself. Snippets come from the records of the archive.
//
// The index of an archive from another person is untrusted. Its schema must equal
// the schema of this package. Its tables must have few segments and short rows, for
// which all of its pages are checked before the first search. It is opened as an
// immutable file, so that SQLite reads no journal. Each search has a time limit. A
// result is reported only if the archive has its capture.
package textindex

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/internal/base/sqlite"
	"github.com/anyurl/fetch/warc"
)

// Suffix is the end of the name of an index.
const Suffix = ".textindex"

// PathOf returns the path of the index of the archive at path, which is a file or
// a folder.
func PathOf(path string) string {
	path = filepath.Clean(path)
	if base := filepath.Base(path); base == "." || base == ".." {
		if absolute, err := filepath.Abs(path); err == nil { // otherwise the file cannot be created
			path = absolute
		}
	}
	return path + Suffix
}

// An Index is the text index of an archive. It opens its file at the first
// search, and again after the file was replaced. It is safe for concurrent use.
type Index struct {
	path    string
	archive *warc.Archive
	scheme  func(name string) fetch.Scheme

	mu     sync.Mutex // protects the fields below and the connection
	conn   *sqlite.Conn
	file   fs.FileInfo // the file that conn reads, or that was refused
	forged error       // why the file was refused after all of its pages were read, or nil
}

// New returns the Index at path for the texts of archive. The function scheme
// returns the scheme with the given name, or the zero Scheme. The file need not
// exist.
func New(path string, archive *warc.Archive, scheme func(name string) fetch.Scheme) *Index {
	return &Index{path: path, archive: archive, scheme: scheme}
}

// Exists reports whether the file of the index exists.
func (x *Index) Exists() bool {
	_, err := os.Lstat(x.path)
	return err == nil
}

// Close closes the file.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.closeConn()
}

func (x *Index) closeConn() error {
	if x.conn == nil {
		return nil
	}
	err := x.conn.Close()
	x.conn = nil
	return fetch.LocalError(err)
}

// open opens the file unless it is open already.
func (x *Index) open(ctx context.Context) error {
	info, err := os.Lstat(x.path)
	if err != nil {
		return fetch.LocalError(err)
	}
	if x.conn != nil || x.forged != nil {
		if os.SameFile(info, x.file) && info.ModTime().Equal(x.file.ModTime()) {
			return x.forged
		}
		if err := x.closeConn(); err != nil {
			return err
		}
	}
	x.conn, err = openFile(ctx, x.path)
	if x.file, x.forged = info, nil; errors.Is(err, sqlite.ErrTree) {
		x.forged = err
	}
	return err
}

// openFile opens the index at path for reading. It returns an error unless [Build]
// could have written the file.
func openFile(ctx context.Context, path string) (*sqlite.Conn, error) {
	info, err := os.Lstat(path)
	if err == nil && !info.IsDir() {
		err = regularfile.CheckSingleLink(path, info)
	}
	if err != nil {
		return nil, fetch.LocalError(err)
	}
	if err := sqlite.CheckSchema(path, ""); err != nil {
		return nil, unusable(path, err)
	}
	conn, err := sqlite.Open(source(path) + "?mode=ro&immutable=1")
	if err != nil {
		return nil, unusable(path, err)
	}
	if err = prepare(conn); err == nil {
		err = checkTrees(ctx, conn, path)
	}
	if err != nil {
		err = errors.Join(err, conn.Close())
		if ctx.Err() != nil {
			return nil, fetch.Canceled.With(ctx.Err())
		}
		return nil, unusable(path, err)
	}
	return conn, nil
}

// prepare limits the memory of a connection, and checks its schema and the
// segments of its tables.
func prepare(conn *sqlite.Conn) error {
	defer interruptAfter(conn, context.Background(), searchTime)()
	if err := conn.Script("pragma temp_store(file); pragma cache_size(-8192); pragma query_only(1)"); err != nil {
		return err
	}
	if err := checkSchema(conn); err != nil {
		return err
	}
	return checkStructures(conn)
}

// unusable returns the error for an index that is damaged or foreign.
func unusable(path string, err error) error {
	return fetch.Mismatch.Errorf("%s is no usable text index: %w", path, err)
}

// source returns the URI of the database at path, with special characters
// escaped.
func source(path string) string {
	path = filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" {
		path = "/" + path
	}
	u := url.URL{Path: path}
	return "file:" + strings.TrimPrefix(u.EscapedPath(), "./")
}

// searchTime is the time limit of the queries of a search.
const searchTime = 10 * time.Second

// interruptAfter interrupts the queries of conn when the time has passed or ctx is
// done. The caller must call stop after its last query.
func interruptAfter(conn *sqlite.Conn, ctx context.Context, limit time.Duration) (stop func()) {
	limited, cancel := context.WithTimeout(ctx, limit)
	conn.SetInterrupt(limited.Done())
	return func() {
		conn.SetInterrupt(nil)
		cancel()
	}
}
