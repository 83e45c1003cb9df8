package main

import (
	"context"
	"errors"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/manual"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A runner is a command: it has flags and does its work.
type runner interface {
	register(*options.Set)
	run(ctx context.Context, args []string) error
}

// A validator is a command that checks the flags of the command line before the
// configuration files set more flags.
type validator interface{ validate() error }

// An adviser is a command that suggests alternatives to flags that it does not
// have.
type adviser interface{ advice(flag string) string }

// A commandTree is the main command and its subcommands.
type commandTree struct {
	*streams
	config configFlags
	main   *cobra.Command
	sets   map[*cobra.Command]*options.Set // flags of each command
}

func newCommandTree(s *streams) *commandTree {
	return &commandTree{streams: s, sets: map[*cobra.Command]*options.Set{}}
}

// define adds the flags and the work of c to cmd.
func (r *commandTree) define(cmd *cobra.Command, c runner) *cobra.Command {
	var set options.Set
	c.register(&set)
	registerWriting(&set)
	r.messageFlags.register(&set)
	r.config.register(&set)
	registerHelp(&set, cmd)
	set.AddTo(cmd.Flags())
	r.sets[cmd] = &set
	cmd.SilenceErrors, cmd.SilenceUsage, cmd.DisableFlagsInUseLine = true, true, true
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return r.flagError(cmd, c, err) })
	if check, ok := c.(validator); ok {
		cmd.Args = validateFirst(check, cmd.Args)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) }
	cmd.SetUsageFunc(r.usage)
	return cmd
}

// registerHelp registers the flags that cobra would add, so that they appear in
// a section.
func registerHelp(s *options.Set, cmd *cobra.Command) {
	title := "Flags"
	if cmd.Version != "" {
		title = "Help"
		s.Own(title).BoolP("version", "V", false, "print the version")
	}
	s.Own(title).BoolP("help", "h", false, "print the help")
}

func validateFirst(check validator, args cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		if err := check.validate(); err != nil || args == nil {
			return err
		}
		return args(cmd, given)
	}
}

// registerWriting registers the flags of curl that write to servers. They
// return an error, because fetch only reads.
func registerWriting(s *options.Set) {
	var writing options.Set
	p := writing.Section("Writing")
	names := [][2]string{{"data", "d"}, {"request", "X"}, {"upload-file", "T"}, {"form", "F"}, {"data-raw"},
		{"data-binary"}, {"data-urlencode"}}
	for _, name := range names {
		p.FuncP(name[0], name[1], "not supported", func(string) error {
			return fetch.Unsupported.Errorf("--%s: fetch only reads", name[0])
		})
	}
	writing.Hide()
	s.Sections = append(s.Sections, writing.Sections...)
}

// registerIgnored registers the flags of connections as hidden flags. Commands
// without a network accept and ignore them, because a shell alias may set them.
func registerIgnored(s *options.Set) {
	var ignored options.Set
	var dir, file string
	new(clientFlags).register(&ignored)
	new(progressFlags).register(&ignored)
	registerOutputDir(ignored.Section("Output"), &dir, "")
	registerInputFile(ignored.Section("URLs"), &file)
	ignored.Hide()
	s.Sections = append(s.Sections, ignored.Sections...)
}

// flagError returns an error of flag parsing for the user. A flag of another
// command is reported with the advice of c.
func (r *commandTree) flagError(cmd *cobra.Command, c runner, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return options.Error(err)
	}
	flags, name := r.main.Flags(), unknown.GetSpecifiedName()
	f := flags.Lookup(name)
	if f == nil && unknown.GetSpecifiedShortnames() != "" && name != "" {
		f = flags.ShorthandLookup(name[:1])
	}
	if f == nil || cmd == r.main {
		return fetch.Usage.Errorf("%w; see %s --help", options.Error(err), cmd.CommandPath())
	}
	advice := ""
	if a, ok := c.(adviser); ok {
		advice = a.advice(f.Name)
	}
	if advice != "" {
		advice = ": " + advice
	}
	return fetch.Usage.Errorf("--%s has no effect on %s%s", f.Name, cmd.CommandPath(), advice)
}

// configure sets flags of cmd from the configuration files.
func (r *commandTree) configure(cmd *cobra.Command) error {
	set := r.sets[cmd]
	if set == nil || !usesConfig(cmd) {
		return nil
	}
	return r.config.apply(r.stdin, set.Shared(), r.sets[r.main].Shared())
}

// usage prints the usage of cmd. The main command and mirror describe all their
// flags. Other commands describe their own flags and name the rest.
func (r *commandTree) usage(cmd *cobra.Command) error {
	text := manual.Usage(cmd, r.sets[cmd], cmd == r.main)
	return writeLine(cmd.OutOrStdout(), strings.TrimRight(text, "\n"))
}

// exactArgs requires n arguments. Description is used in the error.
func exactArgs(n int, description string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return fetch.Usage.Errorf("%s requires %s", cmd.CommandPath(), description)
		}
		return nil
	}
}

// minArgs requires at least one argument. Description is used in the error.
func minArgs(description string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fetch.Usage.Errorf("%s requires %s", cmd.CommandPath(), description)
		}
		return nil
	}
}

// examples indents the lines of text for the help of a command.
func examples(lines ...string) string { return "  " + strings.Join(lines, "\n  ") }
