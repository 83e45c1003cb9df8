package frontiercmd

import (
	"context"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/crawlflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/mirror/postgres"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A frontierLimitCommand changes the limits of a shared crawl.
type frontierLimitCommand struct {
	*console.Streams
	dsn    string
	flags  *pflag.FlagSet
	limits crawlflags.TotalLimits
}

func newFrontierLimit(r *command.Tree) *cobra.Command {
	return r.Define(&cobra.Command{
		Use:   "limit [flags]",
		Short: "Change the limits of a shared crawl",
		Long: `limit changes the limits that count for all workers of a shared crawl, and prints all of
them as JSON. 0 means no limit. Without a flag, limit only prints them. Running workers obey
within five seconds. A crawl that has reached a limit continues when fetch mirror is started
again: without the flag of the limit, or with the new value.

The limits of an archive without a shared frontier count for each run of fetch mirror. To
continue it, run fetch mirror again, with another limit if necessary.`,
		Example: command.Examples("fetch frontier limit --max-files 200000", "fetch frontier limit --max-bytes 500G --run-time 0"),
	}, &frontierLimitCommand{Streams: r.Streams})
}

func (c *frontierLimitCommand) Register(s *options.Set) {
	crawlflags.RegisterFrontier(s, &c.dsn)
	c.flags = s.Own("Flags")
	c.limits.Register(c.flags)
	command.RegisterIgnored(s)
}

func (c *frontierLimitCommand) Run(ctx context.Context, args []string) error {
	dsn := crawlflags.FrontierURL(c.dsn)
	if dsn == "" || len(args) > 0 {
		return fetch.Usage.Errorf("fetch frontier limit requires a crawl with --frontier, and no directory; " +
			"to continue another archive with other limits, run fetch mirror again with these limits")
	}
	var shown struct {
		Files   int64   `json:"max_files"`
		Bytes   int64   `json:"max_bytes"`
		Seconds float64 `json:"run_time"`
	}
	err := mirror.Open(mirror.Location{Frontier: postgres.New(dsn)}).ChangeLimits(ctx, func(l *mirror.Limits) {
		if c.flags.Changed("max-files") {
			l.Files = c.limits.MaxFiles
		}
		if c.flags.Changed("max-bytes") {
			l.Bytes = int64(c.limits.MaxBytes)
		}
		if c.flags.Changed("run-time") {
			l.Time = time.Duration(c.limits.RunTime)
		}
		shown.Files, shown.Bytes, shown.Seconds = l.Files, l.Bytes, l.Time.Seconds()
	})
	if err != nil {
		return err
	}
	return c.PrintJSON(shown)
}
