package main

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/schemes/nntp"
	"github.com/anyurl/fetch/warc"
	"github.com/anyurl/fetch/wrap"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// app is one run of the command.
type app struct {
	ctx    context.Context
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	flags  flags

	given func(flag string) bool
	heard *fetch.Trace // by every request
	who   *logins
	meta  *metaFile        // nil: not wanted
	jar   *http.Jar        // nil: no cookies
	marks *nntp.Marks      // nil: nothing is remembered
	shown func(wrap.Event) // is told of each body; nil: none

	console *console // nil: nobody sits at one

	buffers sync.Pool // of *[]byte
	opened  sync.Once
	folder  *save.Folder // of the names that URLs give; nil: not open
	urls    []string     // of -K
	native  bool         // listings as the protocol has them

	remember  bool          // listings, for this run
	archive   *warc.Archive // nil: the network answers
	archiving bool          // for a mirror: hosts are spared, groups are read on

	around []fetch.Middleware // of a mirror, outside of the others
}

// command builds the tree of commands. The root is the main one: it brings
// objects.
func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "fetch [flags] URL...",
		Short: "Bring what a URL names, whole and safely",
		Long: `fetch writes the object that each URL names to standard output, or with -o,
-O or --output-dir to a file, which appears whole or not at all.

fetch help SCHEME tells what the URLs of a scheme mean. A flag is set for good by
its long name in $XDG_CONFIG_HOME/fetch/config.toml (~/.config): retry = 5

Exit codes: 0 ok; 1 internal; 2 usage or bad URL; 3 local file or disk; 4 network,
try again; 5 TLS; 6 authentication; 7 protocol; 8 the server said no; 9 refused by
policy; 10 limit, loop, bomb; 11 truncated or wrong digest, try again; 12
unsupported; 13 several URLs failed in different ways, or one of a list is
malformed; 130, 143 interrupted.`,
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) (err error) {
			if configurable(cmd) {
				a.urls, err = a.configure(cmd.Root().PersistentFlags())
			}
			return err
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.gets(append(args, a.urls...))
		},
	}
	a.flags.register(root.PersistentFlags())
	root.Flags().BoolP("version", "V", false, "tell the version")
	a.given = root.PersistentFlags().Changed
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flagError(err) })
	root.AddCommand(a.ls(), a.info(), a.plan(), a.search(), a.mirror(), a.verify(), a.index(), a.pack(), a.frontier(), a.uri(), a.man(root))
	root.SetHelpCommand(a.help(root))
	return root
}

// flagError is an error of usage, unless the flag itself knows better.
func flagError(err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) && errors.Is(invalid.Unwrap(), fetch.Unsupported) {
		return invalid.Unwrap() // without the value
	}
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "" {
		return fetch.Usage.Errorf("unknown shorthand flag: -%s", unknown.GetSpecifiedName()[:1]) // the rest may be a login
	}
	return fetch.Usage.With(err)
}

// exactly is cobra.ExactArgs as an error of usage.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return fetch.Usage.Errorf("wants %s", what)
		}
		return nil
	}
}

// gets brings each URL of the arguments and of the input file.
func (a *app) gets(args []string) error {
	if len(a.flags.output) > len(args) && a.flags.inputFile == "" {
		return fetch.Usage.Errorf("more -o than URLs")
	}
	if err := a.flags.provable(); err != nil {
		return err
	}
	if bars := a.newBars(); bars != nil {
		// Lines and bars share the terminal: what is said scrolls above them.
		screen := a.stderr
		a.stderr, a.shown = bars, bars.show
		defer func() { bars.end(); a.stderr = screen }()
	}
	return a.batch(args, (*job).get)
}
