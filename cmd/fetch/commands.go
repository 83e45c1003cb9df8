package main

import "github.com/spf13/cobra"

// newRoot returns the main command with all subcommands.
func newRoot(s *streams) *cobra.Command {
	r := newCommandTree(s)
	r.main = r.get()
	r.main.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return r.configure(cmd) }
	r.main.AddCommand(r.ls(), r.info(), r.plan(), r.search(), r.mirror(), r.verify(), r.index(), r.pack(),
		r.frontier(), r.uri(), r.man(), r.completion())
	r.main.SetHelpCommand(r.help())
	r.main.CompletionOptions.DisableDefaultCmd = true
	return r.main
}
