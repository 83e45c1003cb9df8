package frontier

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/anyurl/fetch/internal/sqlite"
)

// engine is a Frontier in an SQLite database. One session writes, the others
// read beside it; who takes a session from its channel has it alone.
type engine struct {
	now      func() time.Time
	sessions []*session // the writer first
	writer   chan *session
	seen     seen         // belongs to who has the writer
	limit    atomic.Int64 // pending URLs of a host
	dropped  atomic.Int64
	readers  chan *session
	closing  sync.Once
	done     chan struct{}
}

var errClosed = errors.New("frontier: closed")

// take waits for a session of pool. ctx ends the waiting only: what has begun
// is brief, and is finished.
func (e *engine) take(ctx context.Context, pool chan *session) (*session, error) {
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

func (e *engine) SetPendingLimit(n int64) { e.limit.Store(n) }

// write runs f in a transaction, which is on disk when write returns nil.
func (e *engine) write(ctx context.Context, f func(*tx) error) error {
	return e.change(ctx, "pragma synchronous=full", f)
}

// hold is write for what matters only while the machine runs: a loss of power
// ends every lease anyway. It may take back the newest of these changes, in
// order, and none that is older than what write has said.
func (e *engine) hold(ctx context.Context, f func(*tx) error) error {
	return e.change(ctx, "pragma synchronous=normal", f)
}

func (e *engine) change(ctx context.Context, sync string, f func(*tx) error) error {
	s, err := e.take(ctx, e.writer)
	if err != nil {
		return err
	}
	defer func() { e.writer <- s }()
	t := &tx{session: s, now: micros(e.now()), hosts: map[int64]*host{}, names: map[string]*host{}, files: map[string]int64{}, seen: &e.seen, limit: e.limit.Load()}
	if err := s.Exec(sync); err != nil {
		return fault(err)
	}
	err = s.transact(func() error {
		if err := t.load(); err != nil {
			return err
		}
		before := t.book
		if err := f(t); err != nil {
			return err
		}
		if err := t.settle(); err != nil {
			return err
		}
		if t.book == before {
			return nil
		}
		return t.store()
	})
	if err == nil {
		e.seen.remember(t.run, t.met)
		e.dropped.Add(t.dropped)
	}
	return fault(err)
}

// read runs f with a session that sees what was committed when it began: one
// transaction, as SQLite locks the file anew for each statement outside of one.
// f may not call the engine.
func (e *engine) read(ctx context.Context, f func(*session) error) error {
	s, err := e.take(ctx, e.readers)
	if err != nil {
		return err
	}
	defer func() { e.readers <- s }()
	return fault(s.within("begin", func() error { return f(s) }))
}

// Close waits for the calls that have begun.
func (e *engine) Close() (err error) {
	e.closing.Do(func() {
		close(e.done)
		<-e.writer
		if e.readers != e.writer {
			for range cap(e.readers) {
				<-e.readers
			}
		}
		err = e.shut()
	})
	return fault(err)
}

// shut closes what was connected, the writer last: the last connection to end
// folds the log into the file.
func (e *engine) shut() (err error) {
	for _, s := range slices.Backward(e.sessions) {
		err = errors.Join(err, s.Close())
	}
	return err
}

// session is one connection.
type session struct{ *sqlite.Conn }

// insert returns the id of the new row.
func (s *session) insert(query string, args ...any) (int64, error) {
	err := s.Exec(query, args...)
	return s.LastID(), err
}

// transact makes f one transaction that may write.
func (s *session) transact(f func() error) error { return s.within("begin immediate", f) }

// within makes f one transaction that begins so.
func (s *session) within(begin string, f func() error) error {
	if err := s.Exec(begin); err != nil {
		return err
	}
	committed := false
	defer func() {
		if !committed {
			s.Exec("rollback") // fails where SQLite has rolled back itself
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

// fault makes a full disk known by the system's name for it, and damage by ours.
func fault(err error) error {
	switch {
	case sqlite.IsFull(err) && !errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("%w: %w", err, syscall.ENOSPC)
	case sqlite.IsDamaged(err) && !errors.Is(err, ErrDamaged):
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	case sqlite.IsTooBig(err):
		return fmt.Errorf("the database has a row of more than %d MiB, which fetch does not write: do not trust this archive: %w", sqlite.MaxRow>>20, err)
	}
	return err
}

// micros is how times are kept.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func nullTime(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: micros(t), Valid: !t.IsZero()}
}

func timeOf(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.UnixMicro(n.Int64).UTC()
}
