package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// aliveTime is the time for which a connected process counts as alive after its
// last activity. An open connection is no proof, because the connections of a
// machine without power remain for hours.
const aliveTime = time.Minute

// Interval and number of the attempts of join, which waits until the server has
// closed the connections of a process that was just killed.
const (
	endInterval = 100 * time.Millisecond
	endAttempts = 20
)

// join registers the worker of the engine. It returns an error if the name
// belongs to another folder, if another process runs the worker, or if the worker
// was abandoned.
func (e *engine) join(ctx context.Context) (err error) {
	if e.worker.Name == "" {
		return nil
	}
	for range endAttempts {
		var incarnation int64
		switch incarnation, err = e.tryJoin(ctx); {
		case err == nil:
			e.worker.Incarnation, e.joined = incarnation, true
			return nil
		case !errors.Is(err, frontier.ErrRunning):
			return err
		}
		timer := time.NewTimer(endInterval)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
	return err
}

// tryJoin registers the worker and returns its incarnation.
func (e *engine) tryJoin(ctx context.Context) (incarnation int64, err error) {
	w := &e.worker
	return transact(ctx, e, exclusive, func(t *tx) (incarnation int64, err error) {
		if err := t.start(); err != nil {
			return 0, err
		}
		err = t.exec("insert into worker (name, folder, joined, beat) values ($1, $2, $3, $3) on conflict do nothing",
			w.Name, w.Folder, t.Now)
		if err != nil {
			return 0, err
		}
		var folder, place string
		var beat int64
		var connected bool
		err = t.QueryRow(t.ctx, `select folder, incarnation, place, beat, session <> $2 and
			exists (select from pg_stat_activity where application_name = $3 || session) from worker where name = $1 for update`,
			w.Name, e.session, sessionPrefix).Scan(&folder, &incarnation, &place, &beat, &connected)
		where, _, _ := strings.Cut(place, "#")
		switch {
		case err != nil:
			return 0, err
		case w.Incarnation != 0 && w.Incarnation != incarnation:
			return 0, fmt.Errorf("the worker %s: %w", w.Name, frontier.ErrAbandoned)
		case folder != "" && folder != w.Folder: // a new folder can take the name of an abandoned worker
			return 0, fmt.Errorf("the worker %s: %w (%s)", w.Name, frontier.ErrOtherFolder, where)
		case folder != "" && place != w.Place && connected && t.Now-beat < aliveTime.Microseconds():
			return 0, fmt.Errorf("the worker %s: %w (%s)", w.Name, frontier.ErrRunning, where)
		}
		if err := t.exec("delete from receipt where at < $1", t.Now-oldReceipts); err != nil {
			return 0, err
		}
		return incarnation, t.exec("update worker set folder = $2, session = $3, place = $4, beat = $5 where name = $1",
			w.Name, w.Folder, e.session, w.Place, t.Now)
	})
}

func (e *engine) Report(ctx context.Context, urlRate, byteRate float64) error {
	return e.write(ctx, shared, func(t *tx) error {
		return t.exec("update worker set beat = $2, url_rate = $3, byte_rate = $4 where name = $1",
			e.worker.Name, t.Now, urlRate, byteRate)
	})
}

// checkWorker returns an error if the worker was abandoned after it joined, or if
// another process has taken its name. The parameters are the current values in
// the database, or zero for an unknown worker.
func (e *engine) checkWorker(incarnation int64, session string) error {
	switch {
	case e.worker.Incarnation == 0:
		return nil
	case incarnation != e.worker.Incarnation:
		return fmt.Errorf("the worker %s: %w", e.worker.Name, frontier.ErrAbandoned)
	case e.joined && session != e.session:
		return fmt.Errorf("the worker %s: %w", e.worker.Name, frontier.ErrRunning)
	}
	return nil
}
