// Package sqlite executes SQLite statements. It does not use database/sql,
// because the locks, conversions and allocations of database/sql take as much
// time as SQLite itself.
package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"zombiezen.com/go/sqlite"
)

// A Conn is a connection to a database. It caches prepared statements. A Conn
// must not be used by several goroutines at the same time.
type Conn struct {
	conn  *sqlite.Conn
	stmts map[string]*Row
}

// Open opens or creates the database at uri, which is a path or a "file:" URI.
// The file may be untrusted. SQL functions with side effects are disabled in
// its schema, and corrupt pages are detected.
func Open(uri string) (*Conn, error) {
	conn, err := sqlite.OpenConn(uri, sqlite.OpenReadWrite, sqlite.OpenCreate, sqlite.OpenURI)
	if err != nil {
		return nil, err
	}
	for _, l := range limits {
		conn.Limit(l.of, l.value)
	}
	c := &Conn{conn, map[string]*Row{}}
	if err := c.Script("pragma trusted_schema=off; pragma cell_size_check=on"); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// MaxRow is the maximum size of a row, text or blob in bytes.
const MaxRow = 4 << 20

// limits restrict the memory and the time that an untrusted database can use.
var limits = [...]struct {
	of    sqlite.Limit
	value int32
}{
	{sqlite.LimitLength, MaxRow}, {sqlite.LimitSQLLength, 64 << 10}, {sqlite.LimitColumn, 64},
	{sqlite.LimitExprDepth, 50}, {sqlite.LimitCompoundSelect, 10}, {sqlite.LimitAttached, 0},
	{sqlite.LimitTriggerDepth, 1},
}

// Close closes the connection and its statements.
func (c *Conn) Close() error { return c.conn.Close() }

// Script executes a sequence of statements without parameters.
func (c *Conn) Script(text string) error {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		stmt, rest, err := c.conn.PrepareTransient(text)
		if err != nil {
			return err
		}
		_, err = stmt.Step()
		if err = errors.Join(err, stmt.Finalize()); err != nil {
			return err
		}
		text = text[len(text)-rest:]
	}
	return nil
}

// Exec executes one statement and discards its rows.
func (c *Conn) Exec(query string, args ...any) error {
	return c.ForEachRow(query, args, func(*Row) error { return nil })
}

// Changes returns the number of rows that the last Exec changed.
func (c *Conn) Changes() int { return c.conn.Changes() }

// LastID returns the ID of the last inserted row.
func (c *Conn) LastID() int64 { return c.conn.LastInsertRowID() }

// Scan executes query and reads its first row. It returns sql.ErrNoRows if
// there is no row.
func (c *Conn) Scan(query string, args []any, to ...any) error {
	r, err := c.prepare(query, args)
	if err != nil {
		return err
	}
	defer r.reset()
	switch more, err := r.stmt.Step(); {
	case err != nil:
		return err
	case !more:
		return sql.ErrNoRows
	}
	return r.Scan(to...)
}

// ForEachRow executes query and calls f for each row. The function f may
// execute other queries.
func (c *Conn) ForEachRow(query string, args []any, f func(*Row) error) error {
	r, err := c.prepare(query, args)
	if err != nil {
		return err
	}
	defer r.reset()
	for {
		if more, err := r.stmt.Step(); err != nil || !more {
			return err
		}
		if err := f(r); err != nil {
			return err
		}
	}
}

// prepare returns the prepared statement for query with args bound to its
// parameters.
func (c *Conn) prepare(query string, args []any) (*Row, error) {
	r := c.stmts[query]
	if r == nil {
		stmt, err := c.conn.Prepare(query)
		if err != nil {
			return nil, err
		}
		r = &Row{stmt: stmt}
		c.stmts[query] = r
	}
	if r.busy {
		return nil, fmt.Errorf("sqlite: query is already running: %s", query)
	}
	if err := r.bind(args); err != nil {
		return nil, err
	}
	r.busy = true
	return r, nil
}

// IsDamaged reports whether err indicates that the file is corrupt or not a
// database.
func IsDamaged(err error) bool {
	code := sqlite.ErrCode(err).ToPrimary()
	return code == sqlite.ResultCorrupt || code == sqlite.ResultNotADB
}

// IsTooBig reports whether err indicates a row larger than MaxRow.
func IsTooBig(err error) bool { return sqlite.ErrCode(err).ToPrimary() == sqlite.ResultTooBig }

// IsReadOnly reports whether err indicates that a file of the database cannot be
// opened or changed.
func IsReadOnly(err error) bool {
	code := sqlite.ErrCode(err).ToPrimary()
	return code == sqlite.ResultCantOpen || code == sqlite.ResultReadOnly
}

// IsFull reports whether err indicates a full disk.
func IsFull(err error) bool { return sqlite.ErrCode(err).ToPrimary() == sqlite.ResultFull }

// SetInterrupt makes all statements fail once done is closed. A later call with
// nil permits statements again.
func (c *Conn) SetInterrupt(done <-chan struct{}) { c.conn.SetInterrupt(done) }
