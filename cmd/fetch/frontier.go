package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/spf13/cobra"
)

// A frontierCommand implements "fetch frontier". Its subcommands show or change
// the state of the URLs in an archive.
type frontierCommand struct{ *streams }

func (r *commandTree) frontier() *cobra.Command {
	cmd := r.define(&cobra.Command{
		Use:   "frontier status|dump|requeue DIR",
		Short: "Show the URLs of an archive, or visit some of them again",
		Long: `frontier describes the URLs of an archive. Each URL is in one state:
  pending   not visited yet, or visited again by this run or the next one
  done      retrieved, or unchanged
  kept      retrieved, and never requested again, such as a message
  gone      retrieved by an earlier run, and deleted on the server since then
  dead      failed permanently
  excluded  found, but not retrieved: out of scope, blocked, or of an unwanted
            type or size
The commands work while a mirror is running.`,
	}, &frontierCommand{r.streams})
	cmd.AddCommand(r.frontierStatus(), r.frontierDump(), r.frontierRequeue())
	return cmd
}

func (c *frontierCommand) register(s *options.Set) { registerIgnored(s) }

func (c *frontierCommand) run(context.Context, []string) error {
	return fetch.Usage.Errorf("fetch frontier requires status, dump or requeue")
}

// A frontierStatusCommand prints how many URLs of an archive are in each state.
type frontierStatusCommand struct {
	*streams
	dsn string
}

func (r *commandTree) frontierStatus() *cobra.Command {
	return r.define(&cobra.Command{
		Use:   "status [flags] [DIR]",
		Short: "Count the URLs of an archive by their state, as JSON",
		Long: `status prints one JSON object:
  run        the number of the newest run, from 1
  started    when the run started
  ended      when the run ended; missing while it is running, or if it was stopped
  urls       all URLs that any run has found: the sum of states, plus earlier
  states     how many URLs are in each state: those that this run has found, and
             all that are pending
  earlier    URLs of earlier runs that this run has not found
  unreached  pending URLs whose servers could not be reached; the next run
             requests them
  hosts      hosts with pending URLs
  captures   objects retrieved by all runs, each version of an object
  bytes      the total size of the captures
  next       when the first of the paused hosts gets a request again`,
	}, &frontierStatusCommand{streams: r.streams})
}

func (c *frontierStatusCommand) register(s *options.Set) {
	registerFrontier(s, &c.dsn)
	registerIgnored(s)
}

func (c *frontierStatusCommand) run(ctx context.Context, args []string) error {
	c.dsn = frontierURL(c.dsn)
	if (len(args) == 1) == (c.dsn != "") {
		return fetch.Usage.Errorf("fetch frontier status requires the directory of an archive, or --frontier")
	}
	s, err := archiveStatus(ctx, strings.Join(args, ""), c.dsn)
	if err != nil && c.dsn == "" {
		err = adviseArchive(args[0], err)
	}
	if err != nil {
		return err
	}
	e := json.NewEncoder(c.stdout)
	e.SetIndent("", "  ")
	return localError(e.Encode(s))
}

// archiveStatus returns the statistics of the archive in dir, or of the crawl
// with the shared frontier dsn.
func archiveStatus(ctx context.Context, dir, dsn string) (mirror.Stats, error) {
	if dsn != "" {
		return mirror.FrontierStatus(ctx, dsn)
	}
	return mirror.Status(ctx, dir)
}

// A frontierDumpCommand prints the URLs of an archive.
type frontierDumpCommand struct {
	*streams
	states []string
}

func (r *commandTree) frontierDump() *cobra.Command {
	return r.define(&cobra.Command{
		Use:   "dump [flags] DIR",
		Short: "Print the URLs of an archive, one line of JSON each",
		Long: `dump prints a JSON record for each URL of an archive, with its state and the
result of the last visit. With --state, dump prints only some of the URLs.`,
		Example: examples("fetch frontier dump --state dead,excluded example.org"),
		Args:    exactArgs(1, "the directory of an archive"),
	}, &frontierDumpCommand{streams: r.streams})
}

func (c *frontierDumpCommand) register(s *options.Set) {
	s.Own("Flags").StringSliceVar(&c.states, "state", nil,
		"print only URLs in these `STATES`, such as pending,dead")
	setStates(s)
	registerIgnored(s)
}

func (c *frontierDumpCommand) run(ctx context.Context, args []string) error {
	for l, err := range mirror.Dump(ctx, args[0], parseStates(c.states)...) {
		if err == nil {
			err = encode(c.stdout, l)
		}
		if err != nil {
			return adviseArchive(args[0], err)
		}
	}
	return nil
}

// A frontierRequeueCommand resets failed URLs of an archive to the state
// pending, so that the next run retries them.
type frontierRequeueCommand struct {
	*streams
	states  []string
	damaged bool
}

func (r *commandTree) frontierRequeue() *cobra.Command {
	return r.define(&cobra.Command{
		Use:   "requeue [flags] DIR",
		Short: "Make the next run of fetch mirror retry failed URLs",
		Long: `requeue makes all URLs pending that have failed permanently, or that are in one of
the given states, and prints their number. The next fetch mirror visits them.

With --damaged, requeue reads all files of tree/ and all WARC records. It makes
the URLs pending whose object is damaged or missing. It restores a file of tree/
from an intact WARC record, and moves damaged files of tree/ to attic/.`,
		Example: examples("fetch frontier requeue example.org && fetch mirror http://example.org/"),
		Args:    exactArgs(1, "the directory of an archive"),
	}, &frontierRequeueCommand{streams: r.streams})
}

func (c *frontierRequeueCommand) register(s *options.Set) {
	s.Own("Flags").StringSliceVar(&c.states, "state", []string{"dead"},
		"retry URLs in these `STATES`, such as dead,gone")
	setStates(s)
	s.Own("Flags").BoolVar(&c.damaged, "damaged", false, "retrieve objects again that are damaged or missing")
	registerIgnored(s)
}

func (c *frontierRequeueCommand) run(ctx context.Context, args []string) error {
	var n int64
	var err error
	if c.damaged {
		n, err = mirror.Heal(ctx, args[0], mirror.HealOptions{
			RequeueOnly: true, Report: func(f mirror.Finding) { c.note("%s: %s", f.Path, f.Text) },
		})
	} else {
		n, err = mirror.Requeue(ctx, args[0], parseStates(c.states)...)
	}
	if err != nil {
		return adviseArchive(args[0], err)
	}
	return c.print(fmt.Sprint(n))
}

func parseStates(names []string) (all []mirror.State) {
	for _, name := range names {
		all = append(all, mirror.State(name))
	}
	return all
}

// setStates records the values of --state for the completion.
func setStates(s *options.Set) {
	options.SetValues(s.Own("Flags").Lookup("state"), "pending", "done", "kept", "gone", "dead", "excluded")
}
