package mirror

import (
	"context"
	"time"

	"github.com/anyurl/fetch/internal/format/crawlreport"
)

// watchInterval is the time between two checks of the settings of the visited
// hosts, and of the limits of the crawl.
const watchInterval = 2 * time.Second

// watch checks the settings of the visited hosts and the limits of the crawl
// until ctx ends, and reports progress that was not reported. With a shared frontier, it also stores heartbeats of this
// worker, and resets end if the limits were changed.
func (c *crawl) watch(ctx context.Context, end *deadline) error {
	every := time.NewTicker(watchInterval)
	defer every.Stop()
	rates, limits := rateWindow{}, ""
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-every.C:
			c.archive.BetweenCommits(func() { c.report.lateProgress(c.stats) })
			err := c.checkHosts(ctx)
			if err == nil && c.shared != nil {
				err = c.reportRates(ctx, now, &rates)
			}
			if err == nil && c.shared != nil {
				limits, err = c.checkCrawl(ctx, limits, end)
			}
			if err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
}

// reportRates stores a heartbeat of this worker and its rates in the database.
func (c *crawl) reportRates(ctx context.Context, now time.Time, rates *rateWindow) error {
	n := c.report.statistics.Counts()
	urls, bytes := rates.add(now, visits(&n.Totals), n.Bytes)
	return c.shared.Report(ctx, urls, bytes)
}

// checkCrawl returns ErrLimit if a crawl with a shared frontier has reached a
// limit. It first applies the stored limits if they are newer than the given
// version, and returns their version.
func (c *crawl) checkCrawl(ctx context.Context, limits string, end *deadline) (version string, err error) {
	if version, err = c.updateLimits(ctx, limits); err == nil {
		err = c.setDeadline(ctx, end)
	}
	if err == nil {
		err = c.checkLimits(ctx)
	}
	return version, err
}

// limitsInterval is the minimum time between two queries for the counts of the
// other workers.
const limitsInterval = 200 * time.Millisecond

// checkLimits returns ErrLimit if the crawl has reached Limits.Files or
// Limits.Bytes. If the frontier is shared, it first queries the counts of the
// other workers, unless they are newer than limitsInterval.
func (c *crawl) checkLimits(ctx context.Context) error {
	if c.tally.needsOthers(time.Now()) {
		_, others, err := c.queue.Counts(ctx)
		if err != nil {
			return err
		}
		c.tally.setOthers(others)
	}
	return c.tally.limitReached()
}

// visits returns the total number of visits with any outcome.
func visits(t *crawlreport.Totals) (n int64) {
	for _, count := range outcomes(t) {
		n += count
	}
	return n
}

// loadCounts reads the counts of a crawl with a shared frontier when this
// process starts. The error is ErrLimit if a limit is reached.
func (c *crawl) loadCounts(ctx context.Context) error {
	if c.shared == nil {
		return nil
	}
	own, others, err := c.queue.Counts(ctx)
	if err != nil {
		return err
	}
	c.tally.own, c.tally.others = own, others
	return c.tally.limitReached()
}

// elapsed returns the time that counts for Limits.Time: the time since the start
// of this process, or since the start of the run if the frontier is shared.
func (c *crawl) elapsed(ctx context.Context) (time.Duration, error) {
	if c.shared == nil {
		return c.o.Now().Sub(c.started), nil
	}
	s, err := c.queue.Stats(ctx)
	return s.Time.Sub(s.Started), err
}

// rateTime is the time over which a rateWindow computes rates.
const rateTime = time.Minute

// A rateWindow computes the rates of a worker during the last minute, or since
// its start.
type rateWindow struct{ samples []rateSample }

type rateSample struct {
	at    time.Time
	urls  int64
	bytes int64
}

// add records the total numbers of URLs and bytes at the given time, and
// returns the rates per second.
func (w *rateWindow) add(at time.Time, urls, bytes int64) (urlRate, byteRate float64) {
	w.samples = append(w.samples, rateSample{at, urls, bytes})
	for len(w.samples) > 2 && at.Sub(w.samples[1].at) >= rateTime {
		w.samples = w.samples[1:]
	}
	first := w.samples[0]
	seconds := at.Sub(first.at).Seconds()
	if seconds <= 0 {
		return 0, 0
	}
	return float64(urls-first.urls) / seconds, float64(bytes-first.bytes) / seconds
}
