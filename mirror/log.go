package mirror

import (
	"context"
	"log/slog"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// The messages and keys of the log records are stable, and doc/monitoring.md
// describes them. At the level Debug, each lease and each visit is logged.
// Durations are in seconds.

func (c *crawl) logStart() {
	c.o.Logger.Info("run started", "run", c.runNumber, "continued", !c.newRun, "seeds", len(c.o.Seeds))
}

// logEnd logs the end of the visits. The parameter cause is the error that ended
// them, or nil.
func (c *crawl) logEnd(cause error) {
	s := &c.report.summary
	attrs := []slog.Attr{
		slog.Int64("run", s.Run), slog.String("result", resultName(cause)), slog.Int64("new", s.New),
		slog.Int64("unchanged", s.Unchanged+s.Listed), slog.Int64("repaired", s.Repaired), slog.Int64("gone", s.Gone),
		slog.Int64("failed", s.Failed), slog.Int64("unreached", s.Unreached), slog.Int64("excluded", s.Excluded),
		slog.Int64("pending", s.Pending), slog.Int64("bytes", s.Bytes), slog.Int64("lost_leases", c.lost.Load()),
		seconds("duration", c.o.Now().Sub(c.started)),
	}
	if cause != nil {
		attrs = append(attrs, slog.String("error", cause.Error()))
	}
	c.o.Logger.LogAttrs(context.Background(), slog.LevelInfo, "run ended", attrs...)
}

func (c *crawl) logLease(l *frontier.Lease) {
	c.o.Logger.Debug("host leased", "host", l.Host, "epoch", l.Epoch, "urls", len(l.Items))
}

// logPause logs that the host of v gets no requests until the given time.
func (c *crawl) logPause(v *visit, until time.Time) {
	c.o.Logger.Info("host paused", "host", v.item.Host, "url", v.item.URL, "kind", fetch.FaultOf(v.err).String(),
		seconds("wait", until.Sub(c.o.Now())))
}

// logOutage logs the start of an outage of the database, or its end if err is
// nil. It is safe for concurrent use.
func (o *Options) logOutage(err error) {
	if err == nil {
		o.Logger.Warn("the database responds again")
		return
	}
	o.Logger.Warn("the database is unavailable; the worker waits", "error", err.Error())
}

// logEvent logs an event that is not a visit.
func (r *report) logEvent(e *Event) {
	r.log.Warn("archive", "state", e.State, "file", e.WARC, "guard", e.Guard, "error", e.Note)
}

// logVisit logs a visit at the level Debug, or at the level Warn if it failed
// or a seed was not retrieved.
func (r *report) logVisit(v *visit, e *Event) {
	level := slog.LevelDebug
	if v.outcome == visitDead || v.outcome.state() == frontier.Pending || e.Rejected {
		level = slog.LevelWarn
	}
	ctx := context.Background()
	if !r.log.Enabled(ctx, level) {
		return
	}
	state := e.State
	if v.outcome == visitRetried {
		state = "retried"
	}
	attrs := append(make([]slog.Attr, 0, 12),
		slog.String("url", e.URL), slog.String("host", v.item.Host), slog.String("state", state),
		slog.Int("status", e.Code), slog.Int64("bytes", e.Size), seconds("duration", time.Duration(e.Millis)*time.Millisecond),
		slog.Int("attempt", e.Attempts+1))
	if e.Unchanged {
		attrs = append(attrs, slog.Bool("unchanged", true))
	}
	if v.err != nil {
		attrs = append(attrs, slog.String("kind", fetch.FaultOf(v.err).String()))
	}
	if e.Note != "" {
		attrs = append(attrs, slog.String("error", e.Note))
	}
	r.log.LogAttrs(ctx, level, "visit", attrs...)
}

// seconds returns an attribute with a duration in seconds.
func seconds(key string, d time.Duration) slog.Attr { return slog.Float64(key, d.Seconds()) }
