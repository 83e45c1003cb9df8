package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes"
	"github.com/spf13/cobra"
)

// A helpCommand prints the help for a command or for a URL scheme.
type helpCommand struct{ *commandTree }

func (r *commandTree) help() *cobra.Command {
	return r.define(&cobra.Command{
		Use:   "help [COMMAND | SCHEME]",
		Short: "Describe a command, or the URLs of a scheme",
		Long: `help prints the help of a command, or a description of the URLs of a scheme.
Without an argument, help prints the help of fetch.`,
		Example: examples("fetch help mirror", "fetch help gopher"),
	}, &helpCommand{r})
}

func (c *helpCommand) register(s *options.Set) { registerIgnored(s) }

func (c *helpCommand) run(_ context.Context, args []string) error {
	if len(args) == 0 {
		return c.main.Help()
	}
	name := strings.TrimRight(strings.ToLower(args[0]), ":/")
	for _, s := range schemes.All(schemes.Options{}) {
		if s.Name == name {
			return c.print(s.Help)
		}
	}
	if description, ok := fetch.ReservedScheme(name); ok {
		return c.print(fmt.Sprintf("%s: %s.\nfetch does not support it; --gateway %s=URL uses a server that does.",
			name, description, name))
	}
	cmd, _, err := c.main.Find(args)
	if err != nil || cmd == c.main {
		return fetch.Usage.Errorf("no command or scheme is called %q", maskLogin(args[0]))
	}
	return cmd.Help()
}
