// Package helpcmd implements help, man and completion, which describe the other
// commands.
package helpcmd

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/manual"
	"github.com/anyurl/fetch/cmd/fetch/internal/markdown"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
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
		Use:   "help [COMMAND | TOPIC | SCHEME | WORDS]",
		Short: "Describe a command, a topic, or the URLs of a scheme",
		Long: `help prints the help of a command, a page of the documentation, or a description of
the URLs of a scheme. Without an argument, help prints the help of fetch and the
names of all topics and schemes. For other words, help lists the pages, commands
and flags whose texts contain all of them.

On a terminal, a long text is shown by the program in $PAGER (default less).`,
		Example:           command.Examples("fetch help mirror", "fetch help mirroring", "fetch help gopher", "fetch help resume download"),
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
		return c.page(c.HelpText(c.Main) + "\n\n" + manual.Index(pages, console.SchemeNames(), c.Columns()))
	}
	name := strings.TrimSuffix(strings.TrimRight(strings.ToLower(args[0]), ":/"), ".md")
	if len(args) == 1 {
		if text, ok := c.topic(name, pages); ok {
			return c.page(text)
		}
	}
	if cmd, _, err := c.Main.Find(args); err == nil && cmd != c.Main && cmd.CommandPath() == "fetch "+strings.Join(args, " ") {
		return c.page(c.HelpText(cmd))
	}
	if found := c.find(args, pages); len(found) > 0 {
		return c.page(matchText(args, found, c.Columns()))
	}
	return c.unknown(strings.Join(args, " "), name, pages)
}

// topic returns the help text of a scheme, or a page of the documentation.
func (c *helpCommand) topic(name string, pages []doc.Page) (text string, ok bool) {
	if text, ok := SchemeHelp(name); ok {
		return strings.TrimRight(manual.Fill(text, c.Columns()), "\n"), true
	}
	for _, page := range pages {
		if page.Name == name {
			o := markdown.Options{Width: c.Columns(), Styles: terminal.Colors(c.Stdout)}
			return strings.TrimRight(markdown.Render(page.Text, o), "\n"), true
		}
	}
	return "", false
}

// page prints text. On a terminal, it runs the pager if the text is longer than
// the screen.
func (c *helpCommand) page(text string) error {
	pager := terminal.DefaultPager()
	if !terminal.Is(c.Stdout) || strings.Count(text, "\n")+1 < terminal.Height(c.Stdout) || pager == nil {
		return c.Print(text)
	}
	return terminal.Page(pager, c.Stdout, c.Stderr, func(w io.Writer) error { return console.WriteLine(w, text) })
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
