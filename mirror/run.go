package mirror

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// Run mirrors the seeds and all linked URLs in the scope. It ends if no URL is
// pending, if a limit is reached, if Options.Stop is closed, or if ctx ends. If the
// previous run was interrupted, Run continues it.
//
// A nil error means that all URLs were retrieved, except those counted in
// Summary.Failed, Unreached and Excluded. Options.Event receives the error of each
// of these URLs. The Summary is valid in any case. If a limit ended the run, the
// error is ErrLimit. If another process holds the lock of the archive, the error is
// fetch.InUse. Several runs with different directories may use the same Client at
// the same time.
func Run(ctx context.Context, o Options) (Summary, error) {
	if err := o.validate(); err != nil {
		return Summary{}, err
	}
	o.setDefaults()
	removeDir, err := o.makeDir()
	if err != nil {
		return Summary{}, err
	}
	defer removeDir()
	c, err := newCrawl(ctx, o)
	if err != nil {
		return Summary{}, err
	}
	o.Monitor.attach(c)
	defer c.stopEnding()
	err = archive.Classify(c.execute(ctx))
	o.Monitor.attach(nil)
	if c.runNumber > 0 || errors.Is(err, frontier.ErrEnded) { // a killed process may have ended the run without its manifest
		err = archive.JoinDistinct(err, c.archive.Seal(c.ending))
	}
	switch s, unknown := c.queue.Stats(c.ending); {
	case unknown == nil:
		c.report.setTotals(s)
	case err == nil:
		err = archive.Classify(unknown)
	}
	return c.report.summary, archive.JoinDistinct(err, c.archive.Close())
}

// endTime is the time after the cancellation of a run in which it can complete
// its commits and release its hosts. If a database does not respond, the leases
// of the hosts end later, and the next run visits the URLs again.
const endTime = time.Second

// newEnding returns a context that ends endTime after ctx.
func newEnding(ctx context.Context) (ending context.Context, stop func()) {
	ending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	remove := context.AfterFunc(ctx, func() { time.AfterFunc(endTime, cancel) })
	return ending, func() { remove(); cancel() }
}

// newCrawl opens the archive in Options.Dir and returns the state of a run.
func newCrawl(ctx context.Context, o Options) (*crawl, error) {
	options := archive.Options{Tree: o.Tree, Discard: o.Sink != nil, MinFree: o.Limits.MinFree, MaxLost: o.MaxLost, Recheck: o.Recheck, Now: o.Now,
		Scheme: o.Client.Scheme}
	if w := o.WARC; w != nil {
		options.WARC = &warc.Options{Prefix: w.Prefix, MaxSize: w.Size, Info: warcInfo(&o), Now: o.Now}
		options.Dedup, options.FileAge = w.Dedup, w.Age
	}
	if o.Frontier != nil {
		options.Shared = &archive.Shared{Frontier: o.Frontier, Worker: o.Worker, Pause: o.Delay, Again: o.Again, Outage: o.logOutage}
		if o.Delay == 0 {
			options.Shared.Pause = publicDelay
		}
		options.WARC.Prefix = cmp.Or(options.WARC.Prefix, "fetch") + "-" + fileNameOf(o.Worker)
	}
	var c *crawl
	if o.Store != nil {
		s, err := openStore(ctx, o.Store, storeTime, o.Logger)
		if err != nil {
			return nil, err
		}
		options.Shared.Store, options.Shared.KeepLocal, options.Shared.Log = s, o.KeepLocal, o.Logger
		options.Shared.Failed = func(name string, err error) { c.report.failedUpload(name, err) }
	}
	a, truncated, err := archive.Open(ctx, o.Dir, options)
	if err != nil {
		return nil, storeError(err)
	}
	a.Frontier().SetPendingLimit(limitOr(o.Limits.Queue, defaultQueue))
	c = &crawl{
		o: o, archive: a, queue: a.Frontier(), started: o.Now(), identity: o.Scope.identityRules(o.Client.Scheme),
		scope: newScopeFilter(o.Scope, o.Limits, o.Client.Scheme, o.Seeds), trust: newTrust(o),
		report: report{log: o.Logger, now: o.Now, onEvent: o.Event, onProgress: o.Progress, appendLog: a.Log, overrideText: o.Override},
		tally:  newTally(o.Limits, o.Frontier != nil), outages: newOutages(o.Tries), robots: newRobotsCache(o.Now),
	}
	c.shared, _ = c.queue.(frontier.Shared)
	c.report.hint = c.typeSeeds()
	c.ending, c.stopEnding = newEnding(ctx)
	c.robots.stored = c.storedRobotsExchange
	if o.Browser != nil {
		c.browserClient = o.Client.With(c.browserMiddlewares()...)
	}
	c.o.Client = o.Client.With(c.politeness()...)
	c.report.opened(truncated, a.Renamed(), a.Losses())
	return c, nil
}

// execute starts the run, visits all pending URLs and completes the run.
func (c *crawl) execute(ctx context.Context) error {
	active, stopUploads := c.startUploads(ctx) // canceled if the uploads fail
	err := c.startRun(active)
	if errors.Is(err, frontier.ErrEnded) { // files of this worker may still wait for their upload
		if failed := archive.JoinDistinct(c.archive.FinishUploads(active), stopUploads()); failed != nil {
			err = failed
		}
		return err
	}
	if err = errors.Join(err, c.checkSpace()); err == nil {
		c.logStart()
		err = c.storeOptions()
	}
	if err != nil {
		return archive.JoinDistinct(err, stopUploads())
	}
	if err = c.visitAll(active); err == nil {
		err = c.untrustedError()
	}
	if err == nil || errors.Is(err, ErrLimit) || errors.Is(err, ErrPaused) || errors.Is(err, ErrDenied) || errors.Is(err, ErrStopped) {
		err = archive.JoinDistinct(err, c.archive.FinishUploads(active))
	}
	err = archive.JoinDistinct(err, stopUploads())
	if s, e := c.queue.Stats(c.ending); e == nil {
		c.report.setPending(s)
	}
	c.countExcluded(ctx)
	c.report.reportGuards()
	c.logEnd(err)
	reported := c.writeReport(err)
	if err != nil {
		return archive.JoinDistinct(err, errors.Join(reported, c.derive(ctx)))
	}
	swept := c.moveToAttic(ctx) // an error does not end the run, because the next run can move the files
	failed, err := c.archive.Failures(ctx, c.runNumber)
	c.report.summary.NewlyFailed = failed.New
	if failed.Unlisted > 0 {
		c.report.unlistedFailures(failed.Unlisted)
	}
	err = errors.Join(err, reported, c.derive(ctx), c.archive.DropParts(ctx))
	if err == nil {
		err = c.ended(c.queue.End(ctx))
	}
	if err == nil { // last, because it replaces the list of the URLs that failed in the previous run
		err = failed.Write()
	}
	return archive.JoinDistinct(swept, err)
}

// visitAll visits all URLs that can be reached from the seeds. It then visits
// the remaining URLs of earlier runs, to which no page links any more. If the
// archive uploads its files, visitAll waits until they are stored. Meanwhile,
// URLs of an abandoned worker can become pending again.
func (c *crawl) visitAll(ctx context.Context) error {
	if err := c.loadCounts(ctx); err != nil {
		return c.ended(err)
	}
	for {
		if err := c.visitPending(ctx, cmp.Or(c.o.Worker, fmt.Sprint(os.Getpid()))); err != nil {
			return c.ended(err)
		}
		if c.untrusted.Load() > 0 {
			return nil // the run remains unfinished, so that the Policy need not deny the remaining URLs
		}
		n, err := c.queue.Revive(ctx)
		if err != nil {
			return c.ended(err)
		}
		if n == 0 && c.archive.Uploads() {
			if err := c.archive.FinishUploads(ctx); err != nil {
				return err
			}
			stats, err := c.queue.Stats(ctx)
			if err != nil {
				return err
			}
			n = stats.States[frontier.Pending] - stats.Postponed
		}
		if n == 0 {
			return nil
		}
	}
}

// ended returns err, or nil if err means that another worker has ended the run.
func (c *crawl) ended(err error) error {
	if c.shared != nil && errors.Is(err, frontier.ErrNoRun) {
		return nil
	}
	return err
}

// countExcluded counts the URLs that guards excluded in earlier processes of
// this run, and adds the counts to the summary.
func (c *crawl) countExcluded(ctx context.Context) {
	if c.newRun {
		return
	}
	var excluded LeftOut
	for it, err := range c.queue.Items(ctx, frontier.Excluded) {
		if err != nil {
			return
		}
		if g, ok := guardOf(it.Note); ok && it.Run == c.runNumber {
			excluded[g]++
		}
	}
	for g, n := range excluded {
		c.report.summary.LeftOut[g] = max(c.report.summary.LeftOut[g], n)
	}
}

// moveToAttic moves the files of deleted objects to attic/ if Options.Delete is
// set.
func (c *crawl) moveToAttic(ctx context.Context) (err error) {
	if c.o.Delete {
		c.report.summary.Attic, err = c.archive.Sweep(ctx, c.o.MaxDelete)
	}
	return err
}

// derive writes the files that depend only on the archive: the index and the
// mailboxes.
func (c *crawl) derive(ctx context.Context) error {
	if c.o.Mail == NoMailboxes {
		return c.archive.Derive(ctx, nil)
	}
	return c.archive.Derive(ctx, &archive.Mail{
		Maildir: c.o.Mail == Maildir, Run: c.runNumber, Current: c.newRun && c.report.newMessages == 0,
		IsGroup:   func(u uri.URI) bool { return isGroup(c.schemeOf(u), u) },
		IsMessage: func(u uri.URI, media string) bool { return isMessage(c.schemeOf(u), media) },
		Origin:    foundBy,
	})
}
