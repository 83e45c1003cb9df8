package helpcmd

import (
	"context"
	"os"

	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/manual"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/spf13/cobra"
)

// A manCommand writes the manual pages of all commands.
type manCommand struct{ *command.Tree }

func NewMan(r *command.Tree) *cobra.Command {
	return r.Define(&cobra.Command{
		Use:     "man DIR",
		Short:   "Write the manual pages to a directory",
		Long:    "man writes one manual page for each command to a directory. It creates the directory if necessary.",
		Example: command.Examples("fetch man /usr/local/share/man/man1"),
		Args:    command.ExactArgs(1, "a directory"),
	}, &manCommand{r})
}

func (c *manCommand) Register(s *options.Set) { command.RegisterIgnored(s) }

func (c *manCommand) Run(_ context.Context, args []string) error {
	if err := os.MkdirAll(args[0], 0o755); err != nil {
		return fetch.Local.With(err)
	}
	pages := manual.Pages{Version: console.CurrentVersion().Number, Set: c.Set}
	return fetch.Local.With(pages.Write(c.Main, args[0]))
}
