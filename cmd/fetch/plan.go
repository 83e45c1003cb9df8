package main

import (
	"fmt"

	"github.com/anyurl/fetch/uri"
	"github.com/spf13/cobra"
)

// plan tells the protocol actions for a URL without a network.
func (a *app) plan() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "plan URL",
		Short: "Tell what would be asked of the server, without a network",
		Args:  exactly(1, "one URL"),
		RunE: func(_ *cobra.Command, args []string) error {
			client, err := a.client()
			if err != nil {
				return err
			}
			defer client.Close()
			req, err := a.request(client, args[0])
			if err != nil {
				return err
			}
			steps, err := client.Plan(req)
			if err != nil {
				return err
			}
			for _, s := range steps {
				if asJSON {
					if s.Arg = uri.Redact(s.Arg); s.Secret {
						s.Arg = "***"
					}
					err = encode(a.stdout, s)
				} else {
					_, err = fmt.Fprintln(a.stdout, plain(s.String()))
				}
				if err != nil {
					return local(err)
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one line of JSON a step")
	return c
}
