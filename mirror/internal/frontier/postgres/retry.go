package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// maxConflicts is the maximum number of attempts to execute a transaction that
// conflicts with other workers.
const maxConflicts = 20

// Delays between two attempts to reach the database, which double from
// firstWait to lastWait.
const (
	firstWait = 100 * time.Millisecond
	lastWait  = 5 * time.Second
)

// errUncertain means that the connection failed during a commit, so that the
// result of the transaction is unknown.
var errUncertain = errors.New("the connection to the database failed during a commit")

// retry calls f until f succeeds or returns a permanent error, and at most
// maxConflicts times for conflicts. While the database is unavailable, retry
// waits and calls f again until ctx is canceled.
func (e *engine) retry(ctx context.Context, f func(context.Context) error) error {
	wait, conflicts := firstWait, 0
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := f(ctx)
		switch {
		case err == nil:
			e.reportOutage(nil)
			return nil
		case isConflict(err):
			if conflicts++; conflicts == maxConflicts {
				return err
			}
			wait = firstWait
			continue
		case !isOutage(err):
			return classifyError(err)
		}
		e.reportOutage(err)
		timer := time.NewTimer(wait/2 + rand.N(wait/2))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return errors.Join(ctx.Err(), classifyError(err))
		}
		wait = min(2*wait, lastWait)
	}
}

// reportOutage calls Worker.Outage with the error at the start of an outage, and
// with nil at the end of the outage.
func (e *engine) reportOutage(err error) {
	if report := e.worker.Outage; report != nil && e.down.CompareAndSwap(err == nil, err != nil) {
		report(classifyError(err))
	}
}

// isConflict reports whether a transaction failed because of another worker, so
// that a new attempt can succeed immediately.
func isConflict(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == "40P01" || pg.Code == "40001" // deadlock, serialization failure
	}
	return errors.Is(err, errRetry)
}

// isOutage reports whether the database is unavailable for some time: it is
// down, starting or shutting down, its disk is full, or it has too many
// connections. A transaction that the server ended after idleTime counts as well.
func isOutage(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		switch pg.Code {
		case "25P03", "57P01", "57P02", "57P03", "53100", "53300":
			return true
		}
		return strings.HasPrefix(pg.Code, "08")
	}
	var network net.Error
	return errors.Is(err, errSilent) || errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, errUncertain) || isClosedConn(err)
}

// isClosedConn reports whether pgx rejected a statement because its connection
// was closed after an error.
func isClosedConn(err error) bool { return err != nil && strings.HasSuffix(err.Error(), "conn closed") }

// classifyError wraps an error of the database. The result wraps ENOSPC if the
// disk of the server is full.
func classifyError(err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "53100" {
		return fmt.Errorf("%w: %w", err, syscall.ENOSPC)
	}
	return err
}

// query calls f, which reads the database, with a context that ends if the server
// does not respond. It can call f several times, and f must not change other
// variables.
func query[R any](ctx context.Context, e *engine, f func(context.Context) (R, error)) (result R, err error) {
	err = e.retry(ctx, func(ctx context.Context) error {
		return e.patient(ctx, func(ctx context.Context) (err error) {
			result, err = f(ctx)
			return err
		})
	})
	return result, err
}

// read executes f in a transaction that sees a consistent snapshot of the
// database. It can call f several times, and f must not change other variables.
func read[R any](ctx context.Context, e *engine, f func(context.Context, pgx.Tx) (R, error)) (R, error) {
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return query(ctx, e, func(ctx context.Context) (result R, err error) {
		err = pgx.BeginTxFunc(ctx, e.pool, options, func(q pgx.Tx) (err error) {
			if _, err := q.Exec(ctx, defaultPlans); err != nil {
				return err
			}
			result, err = f(ctx, q)
			return err
		})
		return result, err
	})
}

// collect executes a query and returns the values of its rows.
func collect[T any](ctx context.Context, e *engine, text string, args []any, scan pgx.RowToFunc[T]) ([]T, error) {
	return query(ctx, e, func(ctx context.Context) ([]T, error) {
		rows, err := e.pool.Query(ctx, text, args...)
		if err != nil {
			return nil, err
		}
		return pgx.CollectRows(rows, scan)
	})
}

// value executes a query that returns one row with one column, and returns the
// value.
func value[T any](ctx context.Context, e *engine, text string, args ...any) (T, error) {
	return query(ctx, e, func(ctx context.Context) (v T, err error) {
		err = e.pool.QueryRow(ctx, text, args...).Scan(&v)
		return v, err
	})
}
