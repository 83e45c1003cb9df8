// Package helpcmd implements help, man and completion, which describe the other
// commands.
package helpcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/manual"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/doc"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/reservedscheme"
	"github.com/anyurl/fetch/schemes"
	"github.com/spf13/cobra"
)

// A helpCommand prints the help for a command or for a URL scheme, or a page of
// the documentation.
type helpCommand struct{ *command.Tree }

func NewHelp(r *command.Tree) *cobra.Command {
	c := &helpCommand{r}
	return r.Define(&cobra.Command{
		Use:   "help [COMMAND | TOPIC | SCHEME]",
		Short: "Describe a command, a topic, or the URLs of a scheme",
		Long: `help prints the help of a command, a page of the documentation, or a description of
the URLs of a scheme. Without an argument, help prints the help of fetch and the
names of all topics and schemes.`,
		Example:           command.Examples("fetch help mirror", "fetch help mirroring", "fetch help gopher"),
		ValidArgsFunction: c.complete,
	}, c)
}

func (c *helpCommand) Register(s *options.Set) { command.RegisterIgnored(s) }

func (c *helpCommand) Run(_ context.Context, args []string) error {
	pages, err := doc.Pages()
	if err != nil {
		return fetch.Internal.With(err)
	}
	if len(args) == 0 {
		if err := c.Main.Help(); err != nil {
			return console.LocalError(err)
		}
		return c.Print("\n" + manual.Index(pages, console.SchemeNames()))
	}
	name := strings.TrimSuffix(strings.TrimRight(strings.ToLower(args[0]), ":/"), ".md")
	if text, ok := SchemeHelp(name); ok {
		return c.Print(text)
	}
	for _, page := range pages {
		if page.Name == name {
			return c.Print(strings.TrimRight(manual.Topic(page.Text), "\n"))
		}
	}
	cmd, _, err := c.Main.Find(args)
	if err != nil || cmd == c.Main {
		return c.unknown(args[0], name, pages)
	}
	return cmd.Help()
}

// SchemeHelp returns the help text of a scheme.
func SchemeHelp(name string) (text string, ok bool) {
	for _, s := range schemes.All(schemes.Options{}) {
		if s.Name == name {
			return s.Help, true
		}
	}
	if description, ok := reservedscheme.Describe(name); ok {
		return fmt.Sprintf("%s: %s.\nfetch does not support it; --gateway %s=URL uses a server that does.",
			name, description, name), true
	}
	return "", false
}

// unknown returns the error for a name that is no command, topic or scheme. The
// error suggests similar names.
func (c *helpCommand) unknown(typed, name string, pages []doc.Page) error {
	others := &cobra.Command{SuggestionsMinimumDistance: 2}
	add := func(name string) {
		others.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	for _, page := range pages {
		add(page.Name)
	}
	for _, scheme := range console.SchemeNames() {
		add(scheme)
	}
	similar := append(c.Main.SuggestionsFor(name), others.SuggestionsFor(name)...)
	if len(similar) == 0 {
		return fetch.Usage.Errorf("no command, topic or scheme is called %q; fetch help lists them", console.MaskLogin(typed))
	}
	return fetch.Usage.Errorf("no command, topic or scheme is called %q: did you mean %s?", console.MaskLogin(typed),
		strings.Join(similar, " or "))
}

// complete returns shell completions for the argument of fetch help: the names
// of the commands, topics and schemes.
func (c *helpCommand) complete(_ *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, cmd := range c.Main.Commands() {
		if cmd.IsAvailableCommand() {
			names = append(names, cobra.CompletionWithDesc(cmd.Name(), cmd.Short))
		}
	}
	pages, _ := doc.Pages()
	for _, page := range pages {
		names = append(names, cobra.CompletionWithDesc(page.Name, page.Title))
	}
	return append(names, console.SchemeNames()...), cobra.ShellCompDirectiveNoFileComp
}
