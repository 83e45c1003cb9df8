// Package frontiercmd implements fetch frontier, which shows and changes the
// URLs of an archive or of a shared crawl.
package frontiercmd

import (
	"context"
	"fmt"

	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/crawlflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/spf13/cobra"
)

// A frontierCommand implements "fetch frontier". Its subcommands show or change
// the state of the URLs in an archive.
type frontierCommand struct{ *console.Streams }

func New(r *command.Tree) *cobra.Command {
	cmd := r.Define(&cobra.Command{
		Use:   "frontier [flags]",
		Short: "Show the URLs of an archive, visit some of them again, or control a crawl",
		Long: `frontier describes the URLs of an archive. Each URL is in one state:
  pending   not visited yet, or visited again by this run or the next one
  done      retrieved, or unchanged
  kept      retrieved, and never requested again, such as a message
  gone      retrieved by an earlier run, and deleted on the server since then
  dead      failed permanently
  excluded  found, but not retrieved: out of scope, blocked, or of an unwanted
            type or size
The commands work while a mirror is running.`,
	}, &frontierCommand{r.Streams})
	cmd.AddCommand(newFrontierStatus(r), newFrontierDump(r), newFrontierRequeue(r))
	cmd.AddCommand(hostCommands(r)...)
	cmd.AddCommand(newFrontierLimit(r), newFrontierAbandon(r), newFrontierCopy(r))
	return cmd
}

func (c *frontierCommand) Register(s *options.Set) { command.RegisterIgnored(s) }

func (c *frontierCommand) Run(context.Context, []string) error {
	return fetch.Usage.Errorf("fetch frontier requires a command, such as status; see fetch frontier --help")
}

// A frontierStatusCommand prints how many URLs of an archive are in each state.
type frontierStatusCommand struct {
	*console.Streams
	dsn string
}

func newFrontierStatus(r *command.Tree) *cobra.Command {
	return r.Define(&cobra.Command{
		Use:   "status [flags] [DIR]",
		Short: "Count the URLs of an archive by their state, as JSON",
		Long: `status prints one JSON object:
  run        the number of the newest run, from 1
  started    when the run started
  ended      when the run ended; missing while it is running or was stopped
  urls       all URLs that any run has found: the sum of states, plus earlier
  states     how many URLs are in each state: those that this run has found, and
             all that are pending
  errors     how many visits of this run failed, by the class of the error, such
             as timeout; a visit that is retried counts each time
  earlier    URLs of earlier runs that this run has not found
  unreached  pending URLs whose servers could not be reached; the next run
             requests them
  hosts      hosts with pending URLs
  waiting    those of these hosts that must wait, for example because of a delay
  paused     those of these hosts that fetch frontier pause has paused
  controlled hosts with settings of pause, exclude and rate, or with a
             Crawl-delay in robots.txt; the delays are in seconds
  captures   objects retrieved by all runs, each version of an object
  bytes      the total size of the captures
  next       when the first of the waiting hosts gets a request again
  workers    with --frontier, the workers: the time of the last sign of life and
             the seconds since then (silent), leased hosts, rates during the
             last minute, and WARC files; with --store, stored counts the
             uploaded files, and spool the files and bytes that wait for their
             upload`,
	}, &frontierStatusCommand{Streams: r.Streams})
}

func (c *frontierStatusCommand) Register(s *options.Set) {
	crawlflags.RegisterFrontier(s, &c.dsn)
	command.RegisterIgnored(s)
}

func (c *frontierStatusCommand) Run(ctx context.Context, args []string) error {
	crawl, err := crawlflags.Locate(args, c.dsn)
	if err != nil {
		return err
	}
	s, err := mirror.Open(crawl).Status(ctx)
	if err != nil {
		return crawlflags.AdviseCrawl(crawl, err)
	}
	shown := struct {
		mirror.Stats
		Controlled []mirror.ControlledHost `json:"controlled,omitempty"`
		Workers    []mirror.Worker         `json:"workers,omitempty"`
	}{Stats: s}
	if shown.Controlled, err = mirror.Open(crawl).ControlledHosts(ctx); err != nil {
		return err
	}
	if crawl.Frontier != nil {
		if shown.Workers, err = mirror.Open(crawl).Workers(ctx); err != nil {
			return err
		}
	}
	return c.PrintJSON(shown)
}

// A frontierDumpCommand prints the URLs of an archive.
type frontierDumpCommand struct {
	*console.Streams
	dsn    string
	states []string
}

func newFrontierDump(r *command.Tree) *cobra.Command {
	return r.Define(&cobra.Command{
		Use:   "dump [flags] [DIR]",
		Short: "Print the URLs of an archive, one line of JSON each",
		Long: `dump prints a JSON record for each URL of an archive, with its state and the
result of the last visit. With --state, dump prints only some of the URLs.`,
		Example: command.Examples("fetch frontier dump --state dead,excluded example.org"),
	}, &frontierDumpCommand{Streams: r.Streams})
}

func (c *frontierDumpCommand) Register(s *options.Set) {
	crawlflags.RegisterFrontier(s, &c.dsn)
	s.Own("Flags").StringSliceVar(&c.states, "state", nil,
		"print only URLs in these `STATES`, such as pending,dead")
	setStates(s)
	command.RegisterIgnored(s)
}

func (c *frontierDumpCommand) Run(ctx context.Context, args []string) error {
	crawl, err := crawlflags.Locate(args, c.dsn)
	if err != nil {
		return err
	}
	for l, err := range mirror.Open(crawl).Dump(ctx, parseStates(c.states)...) {
		if err == nil {
			err = console.Encode(c.Stdout, l)
		}
		if err != nil {
			return crawlflags.AdviseCrawl(crawl, err)
		}
	}
	return nil
}

// A frontierRequeueCommand resets failed URLs of an archive to the state
// pending, so that the next run retries them.
type frontierRequeueCommand struct {
	*console.Streams
	dsn     string
	states  []string
	damaged bool
}

func newFrontierRequeue(r *command.Tree) *cobra.Command {
	return r.Define(&cobra.Command{
		Use:   "requeue [flags] [DIR]",
		Short: "Make the next run of fetch mirror retry failed URLs",
		Long: `requeue makes all URLs pending that have failed permanently, or that are in one of
the given states, and prints their number. A running fetch mirror visits them, or the next
one. With the state excluded, requeue also undoes fetch frontier exclude.

With --damaged, requeue reads all files of tree/ and all WARC records. It makes
the URLs pending whose object is damaged or missing. It restores a file of tree/
from an intact WARC record, and moves damaged files of tree/ to attic/.`,
		Example: command.Examples("fetch frontier requeue example.org && fetch mirror http://example.org/"),
	}, &frontierRequeueCommand{Streams: r.Streams})
}

func (c *frontierRequeueCommand) Register(s *options.Set) {
	crawlflags.RegisterFrontier(s, &c.dsn)
	s.Own("Flags").StringSliceVar(&c.states, "state", []string{"dead"},
		"retry URLs in these `STATES`, such as dead,gone")
	setStates(s)
	s.Own("Flags").BoolVar(&c.damaged, "damaged", false, "retrieve objects again that are damaged or missing")
	command.RegisterIgnored(s)
}

func (c *frontierRequeueCommand) Run(ctx context.Context, args []string) error {
	crawl, err := crawlflags.Locate(args, c.dsn)
	if err != nil {
		return err
	}
	var n int64
	switch {
	case c.damaged && crawl.Frontier != nil:
		return fetch.Usage.Errorf("--damaged requires the directory of an archive")
	case c.damaged:
		n, err = mirror.Heal(ctx, crawl.Dir, mirror.HealOptions{
			RequeueOnly: true, Report: func(f mirror.Finding) { c.Note("%s: %s", f.Path, f.Text) },
		})
	default:
		n, err = mirror.Open(crawl).Requeue(ctx, parseStates(c.states)...)
	}
	if err != nil {
		return crawlflags.AdviseCrawl(crawl, err)
	}
	return c.Print(fmt.Sprint(n))
}

func parseStates(names []string) (all []mirror.State) {
	for _, name := range names {
		all = append(all, mirror.State(name))
	}
	return all
}

// setStates registers the values of --state for shell completion.
func setStates(s *options.Set) {
	options.SetValues(s.Own("Flags").Lookup("state"), "pending", "done", "kept", "gone", "dead", "excluded")
}
