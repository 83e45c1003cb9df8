package frontiercmd

import (
	"context"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/crawlflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/mirror/postgres"
	"github.com/spf13/cobra"
)

// A frontierAbandonCommand excludes a lost worker from a shared crawl.
type frontierAbandonCommand struct {
	*console.Streams
	dsn        string
	store      string
	dryRun     bool
	forceAfter options.Seconds
}

func newFrontierAbandon(r *command.Tree) *cobra.Command {
	return r.Define(&cobra.Command{
		Use:   "abandon [flags] WORKER",
		Short: "Exclude a worker with a lost directory from a shared crawl",
		Long: `abandon excludes a worker whose directory is lost. Its WARC files in the store of the
crawl remain a part of the crawl. The URLs whose records are only in its other files
become pending, and the other workers retrieve them again. If the process of the worker
still runs, it ends with exit code 3 and its later files do not count.

abandon prints JSON with the number of files in the store that were not recorded yet, and
the lost files, records, URLs and leases. It requires that the worker was silent for five
minutes, because a worker that only lost its connection continues by itself.`,
		Example: command.Examples("fetch frontier abandon --store s3://warcs/news2026 --dry-run crawler3"),
		Args:    command.ExactArgs(1, "the name of a worker"),
	}, &frontierAbandonCommand{Streams: r.Streams, forceAfter: options.Seconds(5 * time.Minute)})
}

func (c *frontierAbandonCommand) Register(s *options.Set) {
	crawlflags.RegisterFrontier(s, &c.dsn)
	crawlflags.RegisterStore(s, &c.store, "find uploaded WARC files at `URL`, the store of the crawl")
	p := s.Own("Flags")
	p.BoolVar(&c.dryRun, "dry-run", false, "print the numbers, but change nothing")
	p.Var(&c.forceAfter, "force-after", "abandon a worker that was silent for `SECONDS`")
	command.RegisterIgnored(s)
}

func (c *frontierAbandonCommand) Run(ctx context.Context, args []string) error {
	dsn := crawlflags.FrontierURL(c.dsn)
	if dsn == "" {
		return fetch.Usage.Errorf("fetch frontier abandon requires --frontier")
	}
	crawl := mirror.Open(mirror.Location{Frontier: postgres.New(dsn), Store: clientflags.StoreAt(c.store)})
	a, err := crawl.Abandon(ctx, args[0], mirror.AbandonOptions{Quiet: time.Duration(c.forceAfter), DryRun: c.dryRun})
	if err != nil {
		return crawlflags.AdviseStore(err)
	}
	return c.PrintJSON(a)
}
