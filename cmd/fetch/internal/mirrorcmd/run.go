package mirrorcmd

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/crawlflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/dedup"
	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/schemes/nntp"
	"github.com/anyurl/fetch/warc"
)

// A mirrorRun is one run of a mirror.
type mirrorRun struct {
	*mirrorCommand
	options     mirror.Options
	report      *mirrorReport
	client      *clientflags.OpenClient
	dedup       *warc.IndexFile // index of --dedup, or nil
	stopMetrics func()          // stops the server of --metrics
	stopBrowser func()          // ends the browser
}

// open opens the Client, the index of --dedup and the server of --metrics. The
// caller must close the run.
func (c *mirrorCommand) open(ctx context.Context, seeds seedList, o mirror.Options) (_ *mirrorRun, err error) {
	r := &mirrorRun{mirrorCommand: c, options: o, report: c.newReport(seeds.source, o.Frontier), stopMetrics: func() {}, stopBrowser: func() {}}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	var marks *nntp.Marks
	if r.client, marks, err = c.openClient(ctx, seeds, r.report); err != nil {
		return nil, err
	}
	r.options.Client = r.client.Client
	agent, err := c.client.HTTP.Agent()
	if err != nil {
		return nil, err
	}
	browser, stop, err := c.mirror.browser.open(ctx, c.Streams, agent)
	if err != nil {
		return nil, err
	}
	r.options.Browser, r.stopBrowser = browser, stop
	r.options.Marks = groupMarks{marks, c.client.Mail.NewsServer}
	r.options.Event = r.report.event
	if r.report.shows {
		r.options.Progress = r.report.crawl.Update
	}
	if name := c.mirror.archive.dedup; name != "" {
		if r.dedup, err = dedup.Open(ctx, r.client.Client, name); err != nil {
			return nil, fmt.Errorf("--dedup: %w", err)
		}
		r.options.WARC.Dedup = r.dedup
	}
	r.options.Monitor, r.options.Logger = &mirror.Monitor{}, console.MirrorLogger(c.Streams)
	r.report.crawl.SetMonitor(r.options.Monitor)
	r.stopMetrics, err = serveMetrics(c.Streams, ctx, c.mirror.metrics, r.options.Monitor)
	return r, err
}

// close ends the display of the progress, and closes the resources that open
// opened.
func (r *mirrorRun) close() {
	r.report.closeProgress()
	r.dedup.Close()
	r.stopBrowser()
	if r.client != nil {
		r.client.Close()
	}
}

// mirrorThreads is the number of threads of a mirror: one for each connection to
// a private host. On a busy machine, a mirror then takes about 0.6 of the time.
const mirrorThreads = 4

// run crawls and prints the summary.
func (r *mirrorRun) run(ctx context.Context) error {
	// A mirror of many small objects allocates many short-lived objects. Less
	// frequent garbage collection makes a run 10 % faster. After thousands of
	// objects, it would need 250 MiB of memory without a limit.
	defer debug.SetGCPercent(debug.SetGCPercent(300))
	defer console.SaveMemory(64 << 20)()
	defer console.MoreThreads(mirrorThreads)()
	defer r.Interrupts.Hold()()
	if r.options.Frontier != nil {
		r.Interrupts.SetGrace(sharedGrace)
	}
	r.options.Stop = r.stopOnInterrupt()
	sum, err := mirror.Run(ctx, r.options)
	r.Interrupts.Set(nil)
	r.stopMetrics()
	r.report.closeProgress()
	r.report.printSummary(sum, err)
	if copied := r.mirror.archive.browse; err == nil && copied != "" {
		err = mirror.Browse(ctx, r.options, copied)
	}
	err = r.result(sum, err)
	if err != nil && r.report.unwritten != nil {
		r.Note("%v", err)
		err = nil
	}
	err = errors.Join(err, r.report.unwritten, r.client.SaveState())
	return errors.Join(err, r.notify(ctx, sum, err))
}

// stopOnInterrupt returns a channel that the first SIGINT closes. Run then
// completes the requests in progress. The next SIGINT ends the command. Without
// a terminal, the first SIGINT ends the command.
func (r *mirrorRun) stopOnInterrupt() <-chan struct{} {
	if !terminal.Is(r.Stderr) {
		return nil
	}
	stop := make(chan struct{})
	r.Interrupts.Set(sync.OnceFunc(func() {
		r.Interrupts.Set(nil)
		close(stop)
		r.Note("completing the requests in progress; Control-C ends them at once")
	}))
	return stop
}

// result returns the error of the command for a run that ended with sum and err.
func (r *mirrorRun) result(sum mirror.Summary, err error) error {
	switch {
	case errors.Is(err, mirror.ErrComplete):
		r.Note("the crawl is complete; --again starts its next run")
		return nil
	case err == nil:
		return r.report.failure(r.options.Dir, sum)
	}
	return crawlflags.AdviseArchive(r.options.Dir, err)
}

// newReport returns the report of a run.
func (c *mirrorCommand) newReport(source seedSource, frontier mirror.Frontier) *mirrorReport {
	r := newMirrorReport(c.Streams, c.mirror.json, &c.progress)
	r.source, r.frontier = source, frontier
	r.guards, r.maxFailed = &c.mirror.guards, c.mirror.limits.maxFailed
	return r
}
