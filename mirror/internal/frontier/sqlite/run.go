package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

// book is the only row of the table book, which contains the totals of the
// database.
type book struct {
	run                   int64
	live                  bool
	states                [rules.NumStates]int64
	before                int64 // number of URLs with the state Done that only earlier runs contain
	urls, captures, bytes int64
}

// tx holds the state of a write transaction.
type tx struct {
	*session
	book
	now     int64
	hosts   map[int64]*host // cache of the hosts in this transaction, by row number
	names   map[string]*host
	files   map[string]int64 // row numbers of WARC files, by name
	seen    *rules.SeenKeys
	newKeys []frontier.Key // keys to add to the cache of seen keys after the commit

	limit   int64 // maximum number of pending URLs of a host; 0 means no limit
	dropped int64 // number of URLs that exceeded limit
}

const readBook = "select run, live, pending, done, kept, gone, dead, excluded, before, urls, captures, bytes from book"

func (b *book) fields() []any {
	return []any{&b.run, &b.live, &b.states[frontier.Pending], &b.states[frontier.Done], &b.states[frontier.Kept], &b.states[frontier.Gone],
		&b.states[frontier.Dead], &b.states[frontier.Excluded], &b.before, &b.urls, &b.captures, &b.bytes}
}

func (t *tx) load() error { return t.Scan(readBook, nil, t.fields()...) }

func (t *tx) store() error {
	err := t.Exec(`update book set run=?, live=?, pending=?, done=?, kept=?, gone=?, dead=?,
		excluded=?, before=?, urls=?, captures=?, bytes=?`,
		t.run, t.live, t.states[frontier.Pending], t.states[frontier.Done], t.states[frontier.Kept], t.states[frontier.Gone],
		t.states[frontier.Dead], t.states[frontier.Excluded], t.before, t.urls, t.captures, t.bytes)
	return err
}

// countMove updates the totals for a URL that changes from the state in u to
// another state.
func (t *tx) countMove(u *urlRow, to frontier.State) {
	switch {
	case u.id == 0:
		t.urls++
	case u.state == frontier.Pending || u.run == t.run:
		t.states[u.state]--
	case u.state == frontier.Done:
		t.before--
	}
	t.states[to]++
}

func (e *engine) Begin(ctx context.Context, note []byte) (run int64, fresh bool, err error) {
	err = e.write(ctx, func(t *tx) error {
		fresh = !t.live
		if fresh {
			t.run++
			t.live = true
			t.before += t.states[frontier.Done]
			t.states = [rules.NumStates]int64{frontier.Pending: t.states[frontier.Pending]}
			if err := t.Exec("delete from counter"); err != nil {
				return err
			}
			if err := t.Exec("insert into run (id, note, started) values (?, ?, ?)", t.run, note, t.now); err != nil {
				return err
			}
		}
		run = t.run
		return t.wakePostponed()
	})
	return run, fresh, err
}

func (e *engine) End(ctx context.Context) error {
	return e.write(ctx, func(t *tx) error {
		if !t.live {
			return frontier.ErrNoRun
		}
		t.live = false
		err := t.Exec("update run set ended=? where id=?", t.now, t.run)
		return err
	})
}

func (e *engine) Stats(ctx context.Context) (st frontier.Stats, err error) {
	now := rules.Micros(e.now())
	err = e.read(ctx, func(s *session) error {
		var b book
		var started, ended, next sql.NullInt64
		if err := s.Scan(readBook, nil, b.fields()...); err != nil {
			return err
		}
		if b.run > 0 {
			err := s.Scan("select started, ended, note from run where id=?", []any{b.run}, &started, &ended, &st.Note)
			if err != nil {
				return err
			}
		}
		err := s.Scan(`select count(*), count(*) filter (where due > ?1 and due < ?2 and coalesce(until, 0) <= ?1),
			count(*) filter (where next = ?2), count(*) filter (where due < ?2 or until > ?1)
			from host where pending > 0`, []any{now, pausedTime}, &st.Hosts, &st.Waiting, &st.Paused, &st.Open)
		if err != nil {
			return err
		}
		err = s.Scan("select due, name from host where pending > 0 and due > ? and due < ? order by due limit 1",
			[]any{now, pausedTime}, &next, &st.NextHost)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err := s.Scan("select count(*) from url where wait = ?", []any{farFuture}, &st.Postponed); err != nil {
			return err
		}
		if st.Errors, err = s.errorCounts(); err != nil {
			return err
		}
		st.Dropped, st.Time = e.dropped.Load(), time.UnixMicro(now).UTC()
		st.Run, st.URLs, st.Captures, st.Bytes = b.run, b.urls, b.captures, b.bytes
		st.Started, st.Ended, st.NextDue = timeOf(started), timeOf(ended), timeOf(next)
		st.States = map[frontier.State]int64{}
		for state, n := range b.states {
			if n > 0 {
				st.States[frontier.State(state)] = n
			}
		}
		return nil
	})
	return st, err
}
