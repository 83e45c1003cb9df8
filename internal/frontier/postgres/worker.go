package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/anyurl/fetch/internal/frontier"
)

// A Worker identifies a process with a folder that takes part in a crawl. The
// zero value is a process that only reads or administers the crawl.
type Worker struct {
	Name        string
	Folder      string        // random identifier of the folder
	Incarnation int64         // incarnation that the folder has stored, or 0 for a new folder
	Pause       time.Duration // minimum time between a call of Evict and the next claim of the same host
	Again       bool          // if false, Begin continues a run, but starts no run after the first
	Outage      func(error)   // called when the database becomes unavailable, and with nil when it responds again; or nil
	Stores      bool          // if true, the worker uploads its WARC files to a store
}

// join registers the worker of the engine. It returns an error if the name
// belongs to another folder, or if the worker was abandoned.
func (e *engine) join(ctx context.Context) error {
	w := &e.worker
	if w.Name == "" {
		return nil
	}
	return e.write(ctx, exclusive, func(t *tx) error {
		err := t.exec("insert into worker (name, folder, joined, beat) values ($1, $2, $3, $3) on conflict do nothing",
			w.Name, w.Folder, t.now)
		if err != nil {
			return err
		}
		var folder string
		var incarnation int64
		err = t.QueryRow(t.ctx, "select folder, incarnation from worker where name = $1 for update", w.Name).Scan(&folder, &incarnation)
		switch {
		case err != nil:
			return err
		case w.Incarnation != 0 && w.Incarnation != incarnation:
			return fmt.Errorf("the worker %s: %w", w.Name, frontier.ErrAbandoned)
		case folder == "": // abandoned, so that a new folder can take the name
			err = t.exec("update worker set folder = $2, beat = $3 where name = $1", w.Name, w.Folder, t.now)
		case folder != w.Folder:
			return fmt.Errorf("the worker %s: %w", w.Name, frontier.ErrOtherFolder)
		}
		w.Incarnation = incarnation
		return err
	})
}

// checkWorker returns an error if the worker was abandoned after it joined. The
// parameter incarnation is the current value in the database, or 0 for an
// unknown worker.
func (e *engine) checkWorker(incarnation int64) error {
	if e.worker.Incarnation != 0 && incarnation != e.worker.Incarnation {
		return fmt.Errorf("the worker %s: %w", e.worker.Name, frontier.ErrAbandoned)
	}
	return nil
}
