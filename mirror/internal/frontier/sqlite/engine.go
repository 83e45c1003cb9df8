// Package sqlite stores a frontier in a file, an SQLite database.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/anyurl/fetch/internal/base/sqlite"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

// engine is a Frontier that uses an SQLite database. It has one session for
// writes and several sessions for reads. A goroutine receives a session from a
// channel, uses the session exclusively, and sends it back.
type engine struct {
	now      func() time.Time
	source   string // URI of the database for readers
	writer   chan *session
	seen     rules.SeenKeys // accessed only with the writer session
	limit    atomic.Int64   // limit set by SetPendingLimit
	dropped  atomic.Int64
	readers  chan *session // idle sessions for reads
	unopened chan struct{} // has a value for each session that readers lacks
	closing  sync.Once
	done     chan struct{}
}

var errClosed = errors.New("frontier: closed")

// acquire waits for a session from pool. Canceling ctx interrupts only this
// wait. An operation that has started is completed.
func (e *engine) acquire(ctx context.Context, pool chan *session) (*session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case <-e.done:
		return nil, errClosed
	default:
	}
	select {
	case s := <-pool:
		return s, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-e.done:
		return nil, errClosed
	}
}

// acquireReader returns a session for reads. It opens another session if all are
// in use, because each session reads the schema and prepares its statements.
func (e *engine) acquireReader(ctx context.Context) (*session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case s := <-e.readers:
		return s, nil
	default:
	}
	select {
	case <-e.unopened:
		s, err := connect(e.source, "cache_size(-1024)", "query_only(1)")
		if err != nil {
			e.unopened <- struct{}{}
		}
		return s, err
	default:
		return e.acquire(ctx, e.readers)
	}
}

func (e *engine) SetPendingLimit(n int64) { e.limit.Store(n) }

// transact executes f in a transaction like write, and returns the result of f.
func transact[R any](ctx context.Context, e *engine, f func(*tx) (R, error)) (result R, err error) {
	err = e.write(ctx, func(t *tx) (err error) {
		result, err = f(t)
		return err
	})
	if err != nil {
		var none R
		return none, err
	}
	return result, nil
}

// write executes f in a transaction. When write returns nil, the changes are on
// disk.
func (e *engine) write(ctx context.Context, f func(*tx) error) error {
	return e.change(ctx, "pragma synchronous=full", f)
}

// writeLease executes f in a transaction that changes only leases. For speed,
// it does not sync the changes to disk. A power failure can undo these changes,
// but not the changes of an earlier call of write.
func (e *engine) writeLease(ctx context.Context, f func(*tx) error) error {
	return e.change(ctx, "pragma synchronous=normal", f)
}

func (e *engine) change(ctx context.Context, sync string, f func(*tx) error) error {
	s, err := e.acquire(ctx, e.writer)
	if err != nil {
		return err
	}
	defer func() { e.writer <- s }()
	t := newTx(s)
	t.Now, t.Seen, t.Limit = rules.Micros(e.now()), &e.seen, e.limit.Load()
	if err := s.Exec(sync); err != nil {
		return classifyError(err)
	}
	err = s.transact(func() error {
		before, err := t.load()
		if err = errors.Join(err, t.breakSeal()); err != nil {
			return err
		}
		if err := f(t); err != nil {
			return err
		}
		if err := t.settle(); err != nil {
			return err
		}
		if before == (book{t.Run, t.Live, t.Tally}) {
			return nil
		}
		return t.store()
	})
	if err == nil {
		t.Remember()
		e.dropped.Add(t.Dropped)
	}
	return classifyError(err)
}

// read executes f in a read transaction, because SQLite would otherwise lock
// the file for each statement. The function f must not call methods of the
// engine.
func (e *engine) read(ctx context.Context, f func(*session) error) error {
	s, err := e.acquireReader(ctx)
	if err != nil {
		return classifyError(err)
	}
	defer func() { e.readers <- s }()
	return classifyError(s.inTransaction("begin", func() error { return f(s) }))
}

// Close waits for running calls and closes the database. It closes the writer
// last, because the last connection writes the log of SQLite back to the
// database.
func (e *engine) Close() (err error) {
	e.closing.Do(func() {
		close(e.done)
		w := <-e.writer
		for range cap(e.unopened) {
			select {
			case s := <-e.readers:
				err = errors.Join(err, s.Close())
			case <-e.unopened:
			}
		}
		err = errors.Join(err, w.Close())
	})
	return classifyError(err)
}

// A session is one connection to the SQLite database.
type session struct{ *sqlite.Conn }

// insert executes an INSERT statement and returns the number of the new row.
func (s *session) insert(query string, args ...any) (int64, error) {
	err := s.Exec(query, args...)
	return s.LastID(), err
}

// rowNumbers returns the row numbers that a query selects.
func (s *session) rowNumbers(query string, args ...any) (ids []int64, err error) {
	err = s.ForEachRow(query, args, func(r *sqlite.Row) error {
		var id int64
		defer func() { ids = append(ids, id) }()
		return r.Scan(&id)
	})
	return ids, err
}

// transact executes f in a write transaction.
func (s *session) transact(f func() error) error { return s.inTransaction("begin immediate", f) }

// inTransaction executes f in a transaction. The parameter begin is the SQL
// statement that starts the transaction.
func (s *session) inTransaction(begin string, f func() error) error {
	if err := s.Exec(begin); err != nil {
		return err
	}
	committed := false
	defer func() {
		if !committed {
			s.Exec("rollback") // returns an error if SQLite has already rolled back the transaction
		}
	}()
	if err := f(); err != nil {
		return err
	}
	if err := s.Exec("commit"); err != nil {
		return err
	}
	committed = true
	return nil
}

// classifyError wraps an SQLite error. The result wraps ENOSPC if the disk is
// full, and ErrDamaged if the database is corrupt.
func classifyError(err error) error {
	switch {
	case sqlite.IsFull(err) && !errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("%w: %w", err, syscall.ENOSPC)
	case sqlite.IsDamaged(err) && !errors.Is(err, frontier.ErrDamaged):
		return fmt.Errorf("%w: %w", frontier.ErrDamaged, err)
	case sqlite.IsTooBig(err):
		return fmt.Errorf("the database has a row larger than %d MiB, which fetch did not write: "+
			"do not trust this archive: %w", sqlite.MaxRow>>20, err)
	}
	return err
}
