// Package uricmd implements fetch uri.
package uricmd

import (
	"context"
	"fmt"

	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/cmd/fetch/internal/uribatch"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A uriCommand implements "fetch uri" and is the parent of its subcommands.
type uriCommand struct {
	*console.Streams
	help  func() error
	batch bool
}

func New(r *command.Tree) *cobra.Command {
	c := &uriCommand{Streams: r.Streams}
	cmd := r.Define(&cobra.Command{
		Use:   "uri",
		Short: "Parse, resolve, normalize, compare and find URIs (RFC 3986)",
		Long: `uri works on URIs without a network. With --batch, uri reads requests in JSON and
prints one answer per line, so that a program can use it as a subprocess.`,
	}, c)
	c.help = cmd.Help
	cmd.AddCommand(newURIParse(r), newURIValid(r), newURIResolve(r), newURINormalize(r), newURIEquivalent(r),
		newURIRelativize(r), newURIExtract(r))
	return cmd
}

func (c *uriCommand) Register(s *options.Set) {
	s.Own("Flags").BoolVar(&c.batch, "batch", false, "answer requests on standard input, one line of JSON each")
	command.RegisterIgnored(s)
}

func (c *uriCommand) Run(ctx context.Context, args []string) error {
	if len(args) > 0 {
		return fetch.Usage.Errorf("fetch uri has no command %q", console.MaskLogin(args[0]))
	}
	if !c.batch {
		return c.help()
	}
	return uribatch.Run(ctx, c.Stdin, c.Stdout)
}

// A uriFunc is a subcommand of "fetch uri" that is implemented by one function.
type uriFunc struct {
	flags func(*pflag.FlagSet) // registers the flags, or nil
	do    func(args []string) error
}

func (c uriFunc) Register(s *options.Set) {
	if c.flags != nil {
		c.flags(s.Own("Flags"))
	}
	command.RegisterIgnored(s)
}

func (c uriFunc) Run(_ context.Context, args []string) error { return c.do(args) }

// parseTwo parses both arguments as URI references.
func parseTwo(args []string) (x, y uri.URI, err error) {
	if x, err = parseReference(args[0]); err != nil {
		return x, y, err
	}
	y, err = parseReference(args[1])
	return x, y, err
}

// printBool prints true or false. If value is false, the command exits with
// code 1.
func printBool(s *console.Streams, value bool) error {
	if err := s.Print(fmt.Sprint(value)); err != nil || value {
		return err
	}
	return console.ExitError{Code: 1}
}

func newURIParse(r *command.Tree) *cobra.Command {
	return r.Define(&cobra.Command{
		Use:   "parse URI",
		Short: "Print the components of a URI as JSON",
		Long:  "parse prints the components of a URI without decoding them. An undefined component is null.",
		Args:  command.ExactArgs(1, "one URI"),
	}, uriFunc{do: func(args []string) error {
		u, err := parseReference(args[0])
		if err != nil {
			return err
		}
		return console.Encode(r.Stdout, uribatch.ComponentsOf(u))
	}})
}

func newURIValid(r *command.Tree) *cobra.Command {
	var production string
	flags := func(p *pflag.FlagSet) {
		p.StringVar(&production, "as", "URI", "match the grammar rule `RULE` of RFC 3986 (such as relative-ref)")
	}
	return r.Define(&cobra.Command{
		Use:   "valid [flags] TEXT",
		Short: "Print whether a text matches the grammar of URIs",
		Long:  "valid prints true and exits with 0, or prints false and exits with 1.",
		Args:  command.ExactArgs(1, "one text"),
	}, uriFunc{flags, func(args []string) error {
		p, ok := uri.ParseProduction(production)
		if !ok {
			return fetch.Usage.Errorf("--as is not a production of RFC 3986: %q", production)
		}
		return printBool(r.Streams, uri.Valid(args[0], p))
	}})
}

// resolveModes maps the values of --mode to the rules for resolving references.
var resolveModes = map[string]uri.Mode{"rfc3986": uri.RFC3986, "draft2003": uri.Draft2003, "draft1997": uri.Draft1997}

func newURIResolve(r *command.Tree) *cobra.Command {
	var mode string
	flags := func(p *pflag.FlagSet) {
		p.StringVar(&mode, "mode", "rfc3986", "apply the `RULES` of rfc3986, draft2003 or draft1997")
	}
	return r.Define(&cobra.Command{
		Use:   "resolve [flags] BASE REFERENCE",
		Short: "Resolve a reference against a base URI (RFC 3986 5)",
		Long:  "resolve prints the absolute URI of a relative reference in a document at BASE.",
		Args:  command.ExactArgs(2, "a base and a reference"),
	}, uriFunc{flags, func(args []string) error {
		m, ok := resolveModes[mode]
		if !ok {
			return fetch.Usage.Errorf("--mode is rfc3986, draft2003 or draft1997, not %q", mode)
		}
		base, ref, err := parseTwo(args)
		if err != nil {
			return err
		}
		u, err := m.Resolve(base, ref)
		if err != nil {
			return fetch.BadURL.With(err)
		}
		return r.Print(u.Unredacted())
	}})
}

// A levelFlag is the value of --level, which selects a normalization level.
type levelFlag string

func (f *levelFlag) Register(p *pflag.FlagSet) {
	p.StringVar((*string)(f), "level", "scheme", "normalize by `LEVEL` (syntax or scheme, RFC 3986 6.2)")
}

func (f *levelFlag) level() (uri.Level, error) {
	switch *f {
	case "syntax":
		return uri.Syntax, nil
	case "scheme":
		return uri.ByScheme, nil
	}
	return 0, fetch.Usage.Errorf("--level is syntax or scheme, not %q", string(*f))
}

func newURINormalize(r *command.Tree) *cobra.Command {
	var flag levelFlag
	return r.Define(&cobra.Command{
		Use:   "normalize [flags] URI",
		Short: "Print the normal form of a URI",
		Long:  "normalize prints the normal form of a URI (RFC 3986 6.2). Equivalent URIs have the same normal form.",
		Args:  command.ExactArgs(1, "one URI"),
	}, uriFunc{flag.Register, func(args []string) error {
		level, err := flag.level()
		if err != nil {
			return err
		}
		u, err := parseReference(args[0])
		if err != nil {
			return err
		}
		return r.Print(u.Normalize(level).Unredacted())
	}})
}

func newURIEquivalent(r *command.Tree) *cobra.Command {
	var flag levelFlag
	return r.Define(&cobra.Command{
		Use:   "equivalent [flags] A B",
		Short: "Print whether two URIs are equivalent",
		Long:  "equivalent prints true and exits with 0, or prints false and exits with 1.",
		Args:  command.ExactArgs(2, "two URIs"),
	}, uriFunc{flag.Register, func(args []string) error {
		level, err := flag.level()
		if err != nil {
			return err
		}
		x, y, err := parseTwo(args)
		if err != nil {
			return err
		}
		return printBool(r.Streams, uri.Equivalent(x, y, level))
	}})
}

func newURIRelativize(r *command.Tree) *cobra.Command {
	return r.Define(&cobra.Command{
		Use:   "relativize BASE TARGET",
		Short: "Print the relative reference from one URI to another",
		Long:  "relativize prints the reference that a document at BASE can use for TARGET.",
		Args:  command.ExactArgs(2, "a base and a target"),
	}, uriFunc{do: func(args []string) error {
		base, target, err := parseTwo(args)
		if err != nil {
			return err
		}
		return r.Print(uri.Relativize(base, target).Unredacted())
	}})
}
