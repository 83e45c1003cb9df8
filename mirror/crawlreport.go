package mirror

import (
	"context"
	"errors"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/crawlreport"
)

// reportedVisit returns the data of a committed visit for the report of the
// run. The parameter e is the event of v.
func reportedVisit(v *visit, e *Event) crawlreport.Visit {
	r := crawlreport.Visit{
		URL: e.URL, Scheme: v.url.Scheme(), Host: v.url.Host(), Outcome: outcomeOf(v), Code: e.Code, Media: e.Media,
		Size: v.size, Reason: v.note,
	}
	if last := v.item.LastCapture; last != nil && r.Outcome != crawlreport.New {
		r.Media, r.Size, r.Modified = last.Media, last.Size, last.Modified
	}
	if v.resp != nil && !v.resp.Time.IsZero() {
		r.Modified = v.resp.Time
	}
	if v.err == nil {
		return r
	}
	r.Error = fetch.FaultOf(v.err).String()
	r.Reason = r.Error
	if failure, ok := errors.AsType[*fetch.Error](v.err); ok && r.Code == 0 {
		r.Code = failure.Code
	}
	return r
}

func outcomeOf(v *visit) crawlreport.Outcome {
	switch v.outcome {
	case visitGone:
		return crawlreport.Gone
	case visitDead:
		return crawlreport.Failed
	case visitExcluded:
		return crawlreport.Excluded
	case visitUnreached:
		return crawlreport.Unreached
	case visitRetried:
		return crawlreport.Retried
	}
	switch {
	case v.content == contentRestored:
		return crawlreport.Repaired
	case v.content.isArchived():
		return crawlreport.Unchanged
	}
	return crawlreport.New
}

// measureResponses returns a middleware that measures the time from a request
// to the start of its response. It must be the innermost middleware, so that
// the time does not include pauses.
func (c *crawl) measureResponses(next fetch.Driver) fetch.Driver {
	return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
		start := c.o.Now()
		resp, err := next.Do(ctx, req)
		c.report.statistics.AddResponseTime(req.URL.Host(), c.o.Now().Sub(start))
		return resp, err
	})
}

// writeReport writes the report of the run to the archive. The parameter cause
// is the error that ended the visits, or nil.
func (c *crawl) writeReport(cause error) error {
	r := c.report.statistics.Report()
	s := &c.report.summary
	r.Run, r.Started, r.Ended, r.Continued = c.runNumber, milliseconds(c.started), milliseconds(c.o.Now()), !c.newRun
	r.Result, r.Seeds = resultName(cause), len(c.o.Seeds)
	r.Totals.Pending, r.Totals.LeftOut, r.Totals.NoFollow = s.Pending, s.LeftOut.Total(), s.NoFollow
	for g, n := range s.LeftOut {
		if n > 0 {
			r.Guards = append(r.Guards, crawlreport.Row{Name: Guard(g).String(), URLs: n})
		}
	}
	return c.archive.WriteReport(r.WriteJSON, r.WriteText)
}

func milliseconds(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// resultName returns the name of a run's result for reports and logs, such as
// "complete" or "limit". The parameter cause is the error that ended the
// visits, or nil.
func resultName(cause error) string {
	switch {
	case cause == nil:
		return "complete"
	case errors.Is(cause, ErrLimit):
		return "limit"
	case errors.Is(cause, ErrPaused):
		return "paused"
	case errors.Is(cause, ErrDenied):
		return "denied"
	case fetch.FaultOf(cause) == fetch.Canceled:
		return "interrupted"
	}
	return fetch.FaultOf(cause).String()
}
