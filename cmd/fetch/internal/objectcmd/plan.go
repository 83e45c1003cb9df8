package objectcmd

import (
	"context"
	"io"

	"github.com/anyurl/fetch/cmd/fetch/internal/arguments"
	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/download"
	"github.com/anyurl/fetch/cmd/fetch/internal/objectflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/uri"
	"github.com/spf13/cobra"
)

// A planCommand prints the requests for a URL without sending them. It accepts
// all flags of the main command, so that "plan" can be inserted into any
// command line.
type planCommand struct {
	*console.Streams
	flags objectflags.Flags
	json  bool
}

func NewPlan(r *command.Tree) *cobra.Command {
	return r.Define(&cobra.Command{
		Use:     "plan [flags] URL",
		Short:   "Print the requests for a URL without sending them",
		Long:    "plan prints each protocol command that fetch would send for the URL. It uses no network.",
		Example: command.Examples("fetch plan ftp://ftp.example.org/pub/README"),
		Args:    command.ExactArgs(1, "one URL"),
	}, &planCommand{Streams: r.Streams})
}

func (c *planCommand) Register(s *options.Set) {
	s.Own("Flags").BoolVar(&c.json, "json", false, "print each step as a line of JSON")
	c.flags.Register(s)
	new(objectflags.Unused).Hide(s, objectflags.PlanNames)
}

func (c *planCommand) Run(ctx context.Context, args []string) error {
	all, err := c.flags.Arguments(c.Streams, args)
	if err != nil {
		return err
	}
	r, err := download.New(ctx, c.Streams, &c.flags, download.Options{})
	if err != nil {
		return err
	}
	defer r.Client.Close()
	list := arguments.Reader{Args: all}
	for {
		a, err := list.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = c.printPlan(r, a)
		}
		if err != nil {
			return err
		}
	}
}

// printPlan prints the requests for one URL.
func (c *planCommand) printPlan(r *download.Retrieval, a arguments.Argument) error {
	w, err := r.Wildcard(a)
	if err != nil {
		return err
	}
	if w != nil {
		a = w.Dir // the files are unknown before the directory is listed
	}
	req, err := r.NewRequest(a)
	if err != nil {
		return err
	}
	if req.Auth != nil && req.Auth.Incomplete {
		req.Auth.Password = "unknown" // the plan shows where the password is sent, but masks it
	}
	steps, err := r.Client.Plan(req)
	if err != nil {
		return err
	}
	for _, s := range steps {
		if err := c.printStep(s); err != nil {
			return err
		}
	}
	return nil
}

func (c *planCommand) printStep(s scheme.Step) error {
	if !c.json {
		return c.Print(terminal.Plain(s.String()))
	}
	if s.Arg = uri.Redact(s.Arg); s.Secret {
		s.Arg = "***"
	}
	return console.Encode(c.Stdout, s)
}
