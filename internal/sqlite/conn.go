// Package sqlite executes statements of SQLite for one goroutine at a time,
// without database/sql, which locks, converts and allocates for each value and
// costs as much as SQLite itself.
package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"zombiezen.com/go/sqlite"
)

// Conn is a connection. It belongs to one goroutine at a time. A query is
// prepared once.
type Conn struct {
	conn  *sqlite.Conn
	stmts map[string]*Row
}

// Open opens or makes the database at uri, a path or a "file:" URI. The file
// may come from a stranger: its schema calls no function that has an effect,
// and damaged pages are detected.
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

// MaxRow is the size of the largest row, text or blob, in bytes.
const MaxRow = 4 << 20

// limits bounds the memory and the time that a file from a stranger can cost.
var limits = [...]struct {
	of    sqlite.Limit
	value int32
}{
	{sqlite.LimitLength, MaxRow}, {sqlite.LimitSQLLength, 64 << 10}, {sqlite.LimitColumn, 64},
	{sqlite.LimitExprDepth, 50}, {sqlite.LimitCompoundSelect, 10}, {sqlite.LimitAttached, 0}, {sqlite.LimitTriggerDepth, 1},
}

// Close ends the connection and its statements.
func (c *Conn) Close() error { return c.conn.Close() }

// Script executes statements that have no parameters.
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

// Exec executes one statement to its end.
func (c *Conn) Exec(query string, args ...any) error {
	return c.ForEachRow(query, args, func(*Row) error { return nil })
}

// Changes is how many rows the last Exec changed.
func (c *Conn) Changes() int { return c.conn.Changes() }

// LastID is the id of the row that was inserted last.
func (c *Conn) LastID() int64 { return c.conn.LastInsertRowID() }

// Scan reads the first row, or is sql.ErrNoRows.
func (c *Conn) Scan(query string, args []any, to ...any) error {
	r, err := c.start(query, args)
	if err != nil {
		return err
	}
	defer r.end()
	switch more, err := r.stmt.Step(); {
	case err != nil:
		return err
	case !more:
		return sql.ErrNoRows
	}
	return r.Scan(to...)
}

// ForEachRow calls f at every row. f may execute other queries.
func (c *Conn) ForEachRow(query string, args []any, f func(*Row) error) error {
	r, err := c.start(query, args)
	if err != nil {
		return err
	}
	defer r.end()
	for {
		if more, err := r.stmt.Step(); err != nil || !more {
			return err
		}
		if err := f(r); err != nil {
			return err
		}
	}
}

// start prepares query, where that has not been done, and binds args.
func (c *Conn) start(query string, args []any) (*Row, error) {
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
		return nil, fmt.Errorf("sqlite: within itself: %s", query)
	}
	if err := r.bind(args); err != nil {
		return nil, err
	}
	r.busy = true
	return r, nil
}

// IsDamaged reports whether err says that the file is no database, or not whole.
func IsDamaged(err error) bool {
	code := sqlite.ErrCode(err).ToPrimary()
	return code == sqlite.ResultCorrupt || code == sqlite.ResultNotADB
}

// IsTooBig reports whether err is that of a row larger than MaxRow.
func IsTooBig(err error) bool { return sqlite.ErrCode(err).ToPrimary() == sqlite.ResultTooBig }

// IsFull reports whether err is that of a full disk.
func IsFull(err error) bool { return sqlite.ErrCode(err).ToPrimary() == sqlite.ResultFull }
