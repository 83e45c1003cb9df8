package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes"
	"github.com/spf13/cobra"
)

// help is cobra's help, for schemes too.
func (a *app) help(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND | SCHEME]",
		Short: "Tell of a command, or what the URLs of a scheme mean",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return root.Help()
			}
			name := strings.TrimRight(strings.ToLower(args[0]), ":/")
			for _, s := range schemes.All(schemes.Options{}) {
				if s.Name == name {
					return a.print(s.Help)
				}
			}
			if what, ok := fetch.ReservedScheme(name); ok {
				return a.print(fmt.Sprintf("%s: %s.\nfetch does not speak it; --gateway %s=URL asks a server that does.", name, what, name))
			}
			c, _, err := root.Find(args)
			if err != nil || c == root {
				return fetch.Usage.Errorf("neither a command nor a scheme: %q", withoutLogin(args[0]))
			}
			return c.Help()
		},
	}
}

// print writes one line of text.
func (a *app) print(text string) error {
	_, err := fmt.Fprintln(a.stdout, text)
	return local(err)
}

func (j *job) print(text string) error {
	_, err := io.WriteString(j.stdout, text+"\n")
	return local(err)
}
