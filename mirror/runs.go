package mirror

import (
	"context"
	"encoding/json"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// A PastRun contains the results of a run, as recorded in crawl.jsonl.
type PastRun struct {
	Run       int64 // number of the run, from 1
	Started   time.Time
	Ended     time.Time // end of the last visit
	New       int64     // retrieved objects that are new or changed
	Unchanged int64     // unchanged objects, including those that were only listed and not requested
	Gone      int64     // objects that were deleted on the server
	Failed    int64     // URLs that failed permanently, or whose server could not be reached
	Excluded  int64
	Bytes     int64 // size of the new objects, in bytes
}

// maxPastRuns is the maximum number of runs that Runs returns.
const maxPastRuns = 10_000

// Runs returns the results of the runs of the archive, in the order of their
// numbers. It reads at most limit lines of crawl.jsonl, and reports whether these
// are all lines. If the crawl has a shared frontier, the fault of the error is
// fetch.Usage, because each worker has its own crawl.jsonl.
func (c *Crawl) Runs(ctx context.Context, limit int) (runs []PastRun, complete bool, err error) {
	if c.place.Frontier != nil {
		return nil, false, fetch.Usage.Errorf("a crawl with a shared frontier has no list of its runs")
	}
	n := 0
	for line, err := range archive.Visits(c.place.Dir) {
		if err == nil && n&1023 == 0 {
			err = ctx.Err()
		}
		if err != nil {
			return nil, false, err
		}
		if n++; n > limit {
			return runs, false, nil
		}
		var e Event
		if json.Unmarshal(line, &e) != nil || e.URL == "" || e.Run < 1 {
			continue // not a visit
		}
		if len(runs) == 0 || e.Run > runs[len(runs)-1].Run {
			if len(runs) == maxPastRuns {
				return runs, false, nil
			}
			runs = append(runs, PastRun{Run: e.Run, Started: e.Time})
		}
		if last := &runs[len(runs)-1]; e.Run == last.Run {
			last.add(&e)
		}
	}
	return runs, true, nil
}

// add counts a visit.
func (r *PastRun) add(e *Event) {
	if ended := e.Time.Add(time.Duration(e.Millis) * time.Millisecond); ended.After(r.Ended) {
		r.Ended = ended
	}
	switch state, _ := frontier.ParseState(e.State); {
	case state == frontier.Gone:
		r.Gone++
	case state == frontier.Dead, state == frontier.Pending && e.Unreached:
		r.Failed++
	case state == frontier.Excluded && e.Guessed:
	case state == frontier.Excluded:
		r.Excluded++
	case state != frontier.Done && state != frontier.Kept:
	case e.Unchanged:
		r.Unchanged++
	default:
		r.New++
		r.Bytes += max(e.Size, 0)
	}
}
