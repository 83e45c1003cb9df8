package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

// tx holds the state of a write transaction.
type tx struct {
	*session
	rules.Transaction
	hosts   map[int64]*host // cache of the hosts in this transaction, by row number
	names   map[string]*host
	files   map[string]int64       // row numbers of WARC files, by name
	claimed map[frontier.Key]int64 // row numbers of claimed URLs
	found   rules.URL              // columns that FindURL reads, because most URLs do not exist
}

// newTx returns a transaction of a session, which has not started yet.
func newTx(s *session) *tx {
	t := &tx{session: s, hosts: map[int64]*host{}, names: map[string]*host{}, files: map[string]int64{}}
	t.Store = t
	return t
}

const readBook = "select run, live, " + rules.TallyColumns + " from book"

// book is the only row of the table book, which contains the totals of the
// database.
type book struct {
	run   int64
	live  bool
	tally rules.Tally
}

func (s *session) book() (b book, err error) {
	err = s.Scan(readBook, nil, append([]any{&b.run, &b.live}, b.tally.Fields()...)...)
	return b, err
}

// load reads the book.
func (t *tx) load() (book, error) {
	b, err := t.book()
	t.Run, t.Live, t.Tally = b.run, b.live, b.tally
	return b, err
}

// store writes the book.
func (t *tx) store() error {
	a := &t.Tally
	return t.Exec("update book set (run, live, "+rules.TallyColumns+") = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		t.Run, t.Live, a.States[0], a.States[1], a.States[2], a.States[3], a.States[4], a.States[5],
		a.Before, a.URLs, a.Captures, a.Bytes)
}

func (e *engine) Begin(ctx context.Context, note []byte) (run int64, fresh bool, err error) {
	err = e.write(ctx, func(t *tx) error {
		fresh = !t.Live
		if fresh {
			t.Run++
			t.Live = true
			t.Tally.StartRun()
			if err := t.Exec("delete from counter"); err != nil {
				return err
			}
			if err := t.Exec("insert into run (id, note, started) values (?, ?, ?)", t.Run, note, t.Now); err != nil {
				return err
			}
		}
		run = t.Run
		return t.wakePostponed()
	})
	return run, fresh, err
}

func (e *engine) End(ctx context.Context) error {
	return e.write(ctx, func(t *tx) error {
		if !t.Live {
			return frontier.ErrNoRun
		}
		t.Live = false
		err := t.Exec("update run set ended=? where id=?", t.Now, t.Run)
		return err
	})
}

func (e *engine) Stats(ctx context.Context) (st frontier.Stats, err error) {
	now := rules.Micros(e.now())
	err = e.read(ctx, func(s *session) error {
		var started, ended, next sql.NullInt64
		b, err := s.book()
		if err != nil {
			return err
		}
		if b.run > 0 {
			err := s.Scan("select started, ended, note from run where id=?", []any{b.run}, &started, &ended, &st.Note)
			if err != nil {
				return err
			}
		}
		err = s.Scan(`select count(*), count(*) filter (where due > ?1 and due < ?2 and coalesce(until, 0) <= ?1),
			count(*) filter (where next = ?2), count(*) filter (where due < ?2 or until > ?1)
			from host where pending > 0`, []any{now, int64(rules.PausedTime)}, &st.Hosts, &st.Waiting, &st.Paused, &st.Open)
		if err != nil {
			return err
		}
		err = s.Scan("select due, name from host where pending > 0 and due > ? and due < ? order by due limit 1",
			[]any{now, int64(rules.PausedTime)}, &next, &st.NextHost)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err := s.Scan("select count(*) from url where wait = ?", []any{int64(rules.FarFuture)}, &st.Postponed); err != nil {
			return err
		}
		if st.Errors, err = s.errorCounts(); err != nil {
			return err
		}
		st.Dropped, st.Time = e.dropped.Load(), time.UnixMicro(now).UTC()
		st.Run = b.run
		b.tally.Report(&st)
		st.Started, st.Ended, st.NextDue = rules.TimeOf(started), rules.TimeOf(ended), rules.TimeOf(next)
		return nil
	})
	return st, err
}
