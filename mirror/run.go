package mirror

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/anyurl/fetch/internal/archive"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// Run mirrors until nothing is left, a limit is reached or ctx ends. A nil error
// means that every URL was retrieved, except those counted in Summary.Failed
// and Summary.Unreached. An archive that another process works on is
// fetch.InUse.
func Run(ctx context.Context, o Options) (Summary, error) {
	if err := o.validate(); err != nil {
		return Summary{}, err
	}
	o.setDefaults()
	c, err := newCrawl(ctx, o)
	if err != nil {
		return Summary{}, err
	}
	err = archive.Fault(c.execute(ctx))
	if s, e := c.queue.Stats(context.WithoutCancel(ctx)); e == nil {
		c.report.setPending(s)
	}
	return c.report.summary, archive.Join(err, c.archive.Close())
}

// open opens the archive of o for a run.
func newCrawl(ctx context.Context, o Options) (*crawl, error) {
	keep := archive.Options{Tree: o.Tree, MinFree: o.Limits.MinFree, Now: o.Now}
	if w := o.WARC; w != nil {
		keep.WARC = &warc.Options{Prefix: w.Prefix, MaxSize: w.Size, Info: w.Info, Now: o.Now}
	}
	a, cuts, err := archive.Open(ctx, o.Dir, keep)
	if err != nil {
		return nil, err
	}
	a.Frontier().SetPendingLimit(limitOr(o.Limits.Queue, DefaultQueue))
	c := &crawl{
		o: o, archive: a, queue: a.Frontier(), started: o.Now(),
		scope: newScopeFilter(o.Scope, o.Client.Scheme, o.Seeds), trust: newTrust(o), report: report{now: o.Now, onEvent: o.Event, onProgress: o.Progress, appendLog: a.Log, overrideText: o.Override},
		tally: newTally(o.Limits), outages: newOutages(o.Tries),
	}
	for _, cut := range cuts {
		c.report.truncatedWARC(cut)
	}
	return c, nil
}

// all begins the run, visits what it leads to, and ends it.
func (c *crawl) execute(ctx context.Context) error {
	if err := errors.Join(c.startRun(ctx), c.archive.Space()); err != nil {
		return err
	}
	if err := c.visitAll(ctx); err != nil {
		return archive.Join(err, c.derive(ctx))
	}
	swept := c.moveToAttic(ctx) // what it leaves, the next run's may take: this one is over
	failed, err := c.archive.Failures(ctx, c.runNumber)
	c.report.summary.NewlyFailed = failed.New
	if failed.Odd > 0 {
		c.report.unlistedFailures(failed.Odd)
	}
	err = errors.Join(err, c.derive(ctx), c.archive.DropParts(ctx))
	if err == nil {
		err = c.queue.End(ctx)
	}
	if err == nil { // later, so that a run which is killed here compares with the one before
		err = failed.Write()
	}
	return archive.Join(swept, err)
}

// visitAll visits what the seeds lead to, and then what nothing leads to any
// more.
func (c *crawl) visitAll(ctx context.Context) error {
	for {
		if err := c.visitPending(ctx, fmt.Sprint(os.Getpid())); err != nil {
			return err
		}
		n, err := c.queue.Revive(ctx)
		if n == 0 || err != nil {
			return err
		}
	}
}

// sweep moves what the servers have no more to the attic, if that is wanted.
func (c *crawl) moveToAttic(ctx context.Context) (err error) {
	if c.o.Delete {
		c.report.summary.Attic, err = c.archive.Sweep(ctx, c.o.MaxDelete)
	}
	return err
}

// derive writes what follows from what was retrieved.
func (c *crawl) derive(ctx context.Context) error {
	if c.o.Mail == NoMailboxes {
		return c.archive.Derive(ctx, nil)
	}
	return c.archive.Derive(ctx, &archive.Mail{
		Maildir: c.o.Mail == Maildir, Run: c.runNumber, Current: c.newRun && c.report.newMessages == 0, Group: func(u uri.URI) bool { return isGroup(c.schemeOf(u), u) }, Found: foundBy,
	})
}
