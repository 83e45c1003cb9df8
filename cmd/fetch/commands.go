package main

import (
	"errors"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/spf13/cobra"
)

// newCommandTree returns the main command with all subcommands. Their flags are
// not registered yet.
func newCommandTree(s *console.Streams) *commandTree {
	r := &commandTree{Streams: s, sets: map[*cobra.Command]func() *options.Set{}}
	r.main = r.get()
	r.main.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		return errors.Join(r.configure(cmd), r.OpenTrace())
	}
	r.main.AddCommand(r.ls(), r.browse(), r.info(), r.plan(), r.search(), r.mirror(), r.verify(), r.recover(), r.index(), r.pack(), r.export(),
		r.serve(), r.frontier(), r.uri(), r.man(), r.completion())
	r.main.SetHelpCommand(r.help())
	r.main.InitDefaultHelpCmd() // adds the help command
	r.main.CompletionOptions.DisableDefaultCmd = true
	return r
}
