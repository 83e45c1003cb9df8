package main

import (
	"encoding/json"
	"fmt"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/spf13/cobra"
)

// frontier shows what an archive has still to visit.
func (a *app) frontier() *cobra.Command {
	c := &cobra.Command{
		Use:   "frontier status|dump|requeue DIR",
		Short: "Show what an archive has still to visit, or visit it again",
		Long: `frontier describes the URLs of an archive, each of which is in one state:
  pending   not visited yet, or to be visited again by this run or the next one
  done      retrieved, or unchanged
  kept      retrieved, and never requested again, such as a message
  gone      retrieved by an earlier run, and deleted on the server since
  dead      failed permanently
  excluded  found, and not wanted: out of scope, refused, of another type or size
A mirror may run at the same time.`,
		RunE: func(*cobra.Command, []string) error {
			return fetch.Usage.Errorf("wants status, dump or requeue")
		},
	}
	for _, sub := range []*cobra.Command{a.frontierStatus(), a.frontierDump(), a.frontierRequeue()} {
		c.AddCommand(fits(sub, nil, nil))
	}
	return c
}

func (a *app) frontierStatus() *cobra.Command {
	return &cobra.Command{
		Use:   "status DIR",
		Short: "Count the URLs of an archive by their state, as JSON",
		Long: `status writes one JSON object:
  run        the number of the newest run, from 1
  started    when it began
  ended      when it ended; missing while it is running, or if it was stopped
  urls       all URLs that any run has found: the sum of states, plus earlier
  states     how many URLs are in each state: those that this run has found, and
             all that are pending
  earlier    URLs of earlier runs that this run has not found
  unreached  those of the pending URLs whose servers could not be reached; the
             next run requests them
  hosts      hosts with pending URLs
  captures   objects retrieved by all runs, each version of an object
  bytes      the size of their contents
  next       when the first of the hosts that are left alone gets a request again`,
		Args: exactly(1, "the folder of an archive"),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := mirror.Status(a.ctx, args[0])
			if err != nil {
				return err
			}
			e := json.NewEncoder(a.stdout)
			e.SetIndent("", "  ")
			return local(e.Encode(s))
		},
	}
}

func (a *app) frontierDump() *cobra.Command {
	var names []string
	c := &cobra.Command{
		Use:   "dump DIR",
		Short: "Write the URLs of an archive, a line of JSON each",
		Args:  exactly(1, "the folder of an archive"),
		RunE: func(_ *cobra.Command, args []string) error {
			for l, err := range mirror.Dump(a.ctx, args[0], statesOf(names)...) {
				if err == nil {
					err = encode(a.stdout, l)
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().StringSliceVar(&names, "state", nil, "those in these `STATES` alone: pending, done, kept, gone, dead, excluded")
	return c
}

func (a *app) frontierRequeue() *cobra.Command {
	names := []string{"dead"}
	c := &cobra.Command{
		Use:   "requeue DIR",
		Short: "Have the next fetch mirror visit URLs again that failed",
		Long: `requeue makes pending what failed for good, or is in the states of --state, and
writes how many that are. The next fetch mirror visits them.`,
		Args: exactly(1, "the folder of an archive"),
		RunE: func(_ *cobra.Command, args []string) error {
			n, err := mirror.Requeue(a.ctx, args[0], statesOf(names)...)
			if err == nil {
				_, err = fmt.Fprintln(a.stdout, n)
			}
			return err
		},
	}
	c.Flags().StringSliceVar(&names, "state", names, "those in these `STATES`: dead, gone, excluded, done, kept")
	return c
}

func statesOf(names []string) (all []mirror.State) {
	for _, name := range names {
		all = append(all, mirror.State(name))
	}
	return all
}
