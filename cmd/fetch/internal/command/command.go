package command

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/anyurl/fetch/cmd/fetch/internal/arguments"
	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/foreignflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/manual"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/fetch"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A runner implements one command. It registers the flags of the command and
// runs the command.
type runner interface {
	Register(*options.Set)
	Run(ctx context.Context, args []string) error
}

// A validator is a command that checks the flags of the command line. The check
// runs before the configuration files set more flags.
type validator interface{ Validate() error }

// An adviser is a command that suggests an alternative when the user sets a
// flag of another command.
type adviser interface{ Advice(flag string) string }

// A Tree contains the main command and its subcommands.
type Tree struct {
	*console.Streams
	Config ConfigFlags
	args   []string // the command line
	Main   *cobra.Command
	sets   map[*cobra.Command]func() *options.Set // for each command, registers and returns its flags

	// List runs a command line, such as "ls --urls URL", and returns its
	// standard output. It is used for the completion of URLs, and may be nil.
	List func(args []string) string
}

// NewTree returns a tree without commands.
func NewTree(s *console.Streams) *Tree {
	return &Tree{Streams: s, sets: map[*cobra.Command]func() *options.Set{}}
}

// SetMain sets the main command, its help command and its other subcommands.
func (r *Tree) SetMain(main, help *cobra.Command, others ...*cobra.Command) {
	r.Main = main
	main.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		return errors.Join(r.configure(cmd), r.OpenTrace())
	}
	main.AddCommand(others...)
	main.SetHelpCommand(help)
	main.InitDefaultHelpCmd() // adds the help command
	main.CompletionOptions.DisableDefaultCmd = true
	main.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		if err := r.Print(r.HelpText(cmd)); err != nil {
			r.Report(cmd.Context(), err, console.ErrorSource{})
		}
	})
}

// Set returns the flags of cmd. It registers them at the first call, because a
// process needs the flags of only a few commands.
func (r *Tree) Set(cmd *cobra.Command) *options.Set {
	if set, ok := r.sets[cmd]; ok {
		return set()
	}
	return nil
}

// Prepare registers the flags that are necessary to execute args: the flags of
// the selected command and of its parents. A command that describes the other
// commands needs all flags. Prepare returns the arguments for cobra.
func (r *Tree) Prepare(args []string) []string {
	r.args = args
	if len(args) == 0 || !strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		r.Set(r.Main)
		args = divideClusters(r.Main.Flags(), args)
	}
	if len(args) > 1 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		for cmd := r.selected(args[1 : len(args)-1]); cmd != nil; cmd = cmd.Parent() { // the last argument is incomplete
			if set := r.Set(cmd); set != nil {
				registerCompletions(cmd, set)
			}
		}
		return args
	}
	if !usesConfig(r.selected(args)) {
		r.RegisterAll()
	}
	return args
}

// selected returns the command that args select. It registers the flags of the
// command and of its parents.
func (r *Tree) selected(args []string) *cobra.Command {
	cmd := r.Main
	for {
		for c := cmd; c != nil; c = c.Parent() {
			r.Set(c)
		}
		// Find skips the values of registered flags. Registering the flags of
		// the command that it found may therefore change its result.
		found, _, _ := r.Main.Find(args)
		if found == cmd {
			return cmd
		}
		cmd = found
	}
}

func (r *Tree) RegisterAll() {
	for _, set := range r.sets {
		set()
	}
}

// Define makes c the implementation of cmd, and returns cmd.
func (r *Tree) Define(cmd *cobra.Command, c runner) *cobra.Command {
	r.sets[cmd] = sync.OnceValue(func() *options.Set {
		var set options.Set
		c.Register(&set)
		writingFlags{}.Register(&set)
		r.Streams.Register(&set)
		r.Config.Register(&set)
		registerHelp(&set, cmd)
		cmd.Flags().SortFlags = false // cobra visits all flags twice, and would sort hundreds
		set.AddTo(cmd.Flags())
		foreignflags.AddNames(cmd.Flags())
		return &set
	})
	cmd.SilenceErrors, cmd.SilenceUsage, cmd.DisableFlagsInUseLine = true, true, true
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return r.flagError(cmd, c, err) })
	if check, ok := c.(validator); ok {
		cmd.Args = validateFirst(check.Validate, cmd.Args)
	}
	cmd.Args = validateFirst(func() error { return r.ForeignHint(cmd) }, cmd.Args)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := rejectDetachedValue(cmd.Flags(), args); err != nil {
			return err
		}
		return c.Run(cmd.Context(), args)
	}
	cmd.SetUsageFunc(r.usage)
	if strings.Contains(cmd.Use, "URL") {
		cmd.ValidArgsFunction = r.completeURL
	}
	return cmd
}

// HelpTitle is the title of the section with the flags --help and --version of
// the main command.
const HelpTitle = "Help"

// registerHelp registers the flag --help in a section of the help text.
// Otherwise cobra would add the flag without a section.
func registerHelp(s *options.Set, cmd *cobra.Command) {
	title := "Flags"
	if !cmd.HasParent() {
		title = HelpTitle
	}
	p, letter := s.Own(title), "h"
	if p.ShorthandLookup(letter) != nil {
		letter = "" // -h of ls and du has the meaning of ls -h
	}
	p.BoolP("help", letter, false, "print the help")
}

// validateFirst returns a cobra check that calls validate before args. The
// check args may be nil.
func validateFirst(validate func() error, args cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		if err := validate(); err != nil || args == nil {
			return err
		}
		return args(cmd, given)
	}
}

// RegisterIgnored registers the connection flags as hidden flags for a command
// that does not use the network. The command accepts and ignores them, because
// a shell alias may set them.
func RegisterIgnored(s *options.Set) {
	var ignored options.Set
	new(clientflags.ReplayFlags).Register(&ignored)
	ignored.Hide()
	RegisterIgnoredConnection(s)
	s.Sections = append(s.Sections, ignored.Sections...)
}

// RegisterIgnoredConnection is like RegisterIgnored, but for a command that
// supports --archive itself.
func RegisterIgnoredConnection(s *options.Set) {
	var ignored options.Set
	var dir, file string
	var globOff bool
	new(clientflags.Flags).RegisterConnection(&ignored)
	new(console.ProgressFlags).Register(&ignored)
	RegisterOutputDir(ignored.Section("Output"), &dir, "")
	RegisterInput(ignored.Section("URLs"), &file, &globOff)
	ignored.Hide()
	s.Sections = append(s.Sections, ignored.Sections...)
}

// flagError converts an error of flag parsing to a usage error. If the unknown
// flag belongs to another command, the error may suggest an alternative.
func (r *Tree) flagError(cmd *cobra.Command, c runner, err error) error {
	if hint := r.ForeignHint(cmd); hint != nil {
		return hint
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return options.Error(err)
	}
	flags, name := r.Main.Flags(), unknown.GetSpecifiedName()
	f := flags.Lookup(name)
	if f == nil && unknown.GetSpecifiedShortnames() != "" && name != "" {
		f = flags.ShorthandLookup(name[:1])
	}
	if cmd == r.Main {
		if err := arguments.CheckCommand(cmd.Flags().Args(), cmd.SuggestionsFor, ""); err != nil {
			return err
		}
	}
	if advice := digestAdvice(cmd.Flags(), name); advice != "" {
		return fetch.Usage.Errorf("%w%s", options.Error(err), advice)
	}
	if f == nil || cmd == r.Main {
		return fetch.Usage.Errorf("%w; see %s --help", options.Error(err), cmd.CommandPath())
	}
	advice := ""
	if a, ok := c.(adviser); ok {
		advice = a.Advice(f.Name)
	}
	if advice != "" {
		advice = ": " + advice
	}
	return fetch.Usage.Errorf("--%s has no effect on %s%s", f.Name, cmd.CommandPath(), advice)
}

// ForeignHint returns a usage error that suggests a corrected command line if the
// user typed options of another program, such as wget. Otherwise it returns
// nil.
func (r *Tree) ForeignHint(cmd *cobra.Command) error {
	if retry := cmd.Flags().Lookup("retry"); retry == nil || retry.Hidden {
		return nil // the command does not use the network
	}
	args := slices.Clone(r.args)
	for _, name := range strings.Fields(cmd.CommandPath())[1:] {
		if i := slices.Index(args, name); i >= 0 {
			args = slices.Delete(args, i, i+1)
		}
	}
	if hint := foreignflags.Find(cmd.CommandPath(), cmd.Flags(), args); hint != nil {
		return fetch.Usage.Errorf("%v", hint)
	}
	return nil
}

// configure sets the flags of cmd that the configuration files contain. It does
// nothing for --version, which works even if a file is malformed.
func (r *Tree) configure(cmd *cobra.Command) error {
	set := r.Set(cmd)
	if set == nil || !usesConfig(cmd) || cmd.Flags().Changed("version") {
		return nil
	}
	return r.Config.apply(r.Stdin, sync.OnceValue(set.Shared), sync.OnceValue(r.Set(r.Main).Shared))
}

// usage prints the usage of cmd.
func (r *Tree) usage(cmd *cobra.Command) error {
	text := manual.Usage(cmd, r.Set(cmd), cmd == r.Main, r.Columns())
	return console.WriteLine(cmd.OutOrStdout(), strings.TrimRight(text, "\n"))
}

// HelpText returns the help text of cmd. The help of the main command describes
// all flags. The help of a subcommand describes its own flags and lists the names
// of all other flags.
func (r *Tree) HelpText(cmd *cobra.Command) string {
	return strings.TrimRight(manual.Help(cmd, r.Set(cmd), cmd == r.Main, r.Columns()), "\n")
}

// Columns returns the width of help texts on standard output.
func (r *Tree) Columns() int { return manual.Columns(terminal.Width(r.Stdout)) }

// ExactArgs returns a cobra check that requires exactly n arguments. The error
// message contains the description of the arguments.
func ExactArgs(n int, description string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return fetch.Usage.Errorf("%s requires %s", cmd.CommandPath(), description)
		}
		return nil
	}
}

// MinArgs returns a cobra check that requires at least n arguments. The error
// message contains the description of the arguments.
func MinArgs(n int, description string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < n {
			return fetch.Usage.Errorf("%s requires %s", cmd.CommandPath(), description)
		}
		return nil
	}
}

// Examples joins example command lines for a help text, and indents each line.
func Examples(lines ...string) string { return "  " + strings.Join(lines, "\n  ") }
