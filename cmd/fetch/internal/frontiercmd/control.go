package frontiercmd

import (
	"context"
	"strconv"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/crawlflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/spf13/cobra"
)

// A hostCommand changes the settings of one host in a crawl. Its arguments are
// the host, the parameters of the change, and the directory of an archive
// unless the frontier is shared.
type hostCommand struct {
	*console.Streams
	dsn        string
	parameters int // number of parameters after the host
	change     func(ctx context.Context, p mirror.Location, host string, parameters []string) error
}

func (c *hostCommand) Register(s *options.Set) {
	crawlflags.RegisterFrontier(s, &c.dsn)
	command.RegisterIgnored(s)
}

func (c *hostCommand) Run(ctx context.Context, args []string) error {
	n := 1 + c.parameters
	crawl, err := crawlflags.Locate(args[n:], c.dsn)
	if err != nil {
		return err
	}
	return crawlflags.AdviseCrawl(crawl, c.change(ctx, crawl, args[0], args[1:n]))
}

// hostCommands returns the subcommands that change the settings of a host.
func hostCommands(r *command.Tree) []*cobra.Command {
	return []*cobra.Command{newFrontierPause(r), newFrontierResume(r), newFrontierRate(r), newFrontierExclude(r)}
}

func newFrontierPause(r *command.Tree) *cobra.Command {
	return r.Define(&cobra.Command{
		Use:   "pause [flags] HOST [DIR]",
		Short: "Stop the requests to a host",
		Long: `pause stops the requests to a host. Its URLs remain pending. A running crawl obeys within
five seconds: requests that are under way are completed. If only paused hosts have URLs
left, the crawl ends with exit code 10.`,
		Example: command.Examples("fetch frontier pause www.example.org"),
		Args:    command.MinArgs(1, "a host"),
	}, &hostCommand{Streams: r.Streams,
		change: func(ctx context.Context, p mirror.Location, host string, _ []string) error {
			return mirror.Open(p).PauseHost(ctx, host)
		}})
}

func newFrontierResume(r *command.Tree) *cobra.Command {
	return r.Define(&cobra.Command{
		Use:     "resume [flags] HOST [DIR]",
		Short:   "Continue the requests to a paused host",
		Long:    `resume ends the effect of fetch frontier pause.`,
		Example: command.Examples("fetch frontier resume www.example.org"),
		Args:    command.MinArgs(1, "a host"),
	}, &hostCommand{Streams: r.Streams,
		change: func(ctx context.Context, p mirror.Location, host string, _ []string) error {
			return mirror.Open(p).ResumeHost(ctx, host)
		}})
}

func newFrontierExclude(r *command.Tree) *cobra.Command {
	return r.Define(&cobra.Command{
		Use:   "exclude [flags] HOST [DIR]",
		Short: "Retrieve no further URLs of a host",
		Long: `exclude gives all pending URLs of a host the state excluded, and prints their number. URLs
of the host that the crawl finds later are excluded as well. A running crawl obeys within
five seconds. fetch frontier requeue --state excluded undoes it for all hosts.`,
		Example: command.Examples("fetch frontier exclude calendar.example.org"),
		Args:    command.MinArgs(1, "a host"),
	}, &hostCommand{Streams: r.Streams,
		change: func(ctx context.Context, p mirror.Location, host string, _ []string) error {
			n, err := mirror.Open(p).ExcludeHost(ctx, host)
			if err != nil {
				return err
			}
			return r.Print(strconv.FormatInt(n, 10))
		}})
}

func newFrontierRate(r *command.Tree) *cobra.Command {
	return r.Define(&cobra.Command{
		Use:   "rate [flags] HOST DELAY [DIR]",
		Short: "Set the delay between two requests to a host",
		Long: `rate sets the delay between the starts of two requests to a host, for all workers. DELAY is
a number of seconds, such as 0.5, or a duration, such as 500ms or 2m. DELAY replaces the
delay of the crawl (--delay) for this host; the value default restores it. A longer
Crawl-delay in robots.txt takes precedence. A running crawl obeys within five seconds.`,
		Example: command.Examples("fetch frontier rate www.example.org 10", "fetch frontier rate www.example.org default"),
		Args:    command.MinArgs(2, "a host and a delay"),
	}, &hostCommand{Streams: r.Streams, parameters: 1,
		change: func(ctx context.Context, p mirror.Location, host string, parameters []string) error {
			delay, err := parseDelay(parameters[0])
			if err != nil {
				return err
			}
			return mirror.Open(p).SetHostDelay(ctx, host, delay)
		}})
}

// maxDelay is the maximum delay of fetch frontier rate.
const maxDelay = 365 * 24 * time.Hour

// parseDelay parses the argument DELAY of fetch frontier rate. The result has
// the meaning that it has in mirror.SetHostDelay: 0 for the default, negative
// for no delay.
func parseDelay(text string) (time.Duration, error) {
	if text == "default" {
		return 0, nil
	}
	d, ok := options.ParseSeconds(text)
	switch {
	case !ok || d > maxDelay:
		return 0, fetch.Usage.Errorf("not a delay such as 0.5, 500ms, 2m or default: %q", text)
	case d == 0:
		return -1, nil
	}
	return max(d, time.Microsecond), nil
}
