package objectcmd

import (
	"context"

	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/download"
	"github.com/anyurl/fetch/cmd/fetch/internal/objectflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/spf13/cobra"
)

// An infoCommand prints the metadata of objects without retrieving their
// bodies.
type infoCommand struct {
	*console.Streams
	flags  objectflags.Flags
	unused objectflags.Unused
}

func NewInfo(r *command.Tree) *cobra.Command {
	return r.Define(&cobra.Command{
		Use:   "info [flags] URL...",
		Short: "Describe an object without its body, as JSON",
		Long: `info prints a JSON record for each URL: type, size, time, validator, redirects,
server, TLS and header fields. With -I, info prints the response header in the
format of the protocol, and accepts the flags for output, such as -o.`,
		Example: command.Examples("fetch info https://example.org/"),
	}, &infoCommand{Streams: r.Streams})
}

func (c *infoCommand) Register(s *options.Set) {
	c.flags.Register(s)
	c.unused.Hide(s, objectflags.InfoNames)
}

func (c *infoCommand) Validate() error {
	if c.flags.Request.Head {
		return nil
	}
	return c.unused.Reject("fetch info", ", which prints JSON; with -I it prints the header and permits -o and other flags")
}

func (c *infoCommand) Run(ctx context.Context, args []string) error {
	if c.flags.Request.Head {
		return download.All(ctx, c.Streams, &c.flags, args, false)
	}
	return download.ForEach(ctx, c.Streams, &c.flags, args, download.Options{}, (*download.Job).Describe)
}
