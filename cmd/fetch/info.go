package main

import (
	"github.com/anyurl/fetch/fetch"
	"github.com/spf13/cobra"
)

// info tells what is known of an object without its body.
func (a *app) info() *cobra.Command {
	c := &cobra.Command{
		Use:   "info URL...",
		Short: "Tell what is known of an object without its body: one record of JSON each",
		RunE: func(_ *cobra.Command, args []string) error {
			if a.flags.head {
				return a.gets(args) // the protocol's own form
			}
			return a.batch(args, (*job).inform)
		},
	}
	return bodiless(c, func() bool { return a.flags.head })
}

func (j *job) inform() error {
	req, err := j.request(j.client, j.text)
	if err != nil {
		return err
	}
	req.Op = fetch.Stat
	resp, err := j.client.Do(j.ctx, req)
	if err != nil {
		return err
	}
	resp.Body.Close()
	return encode(j.stdout, recordOf(resp))
}
