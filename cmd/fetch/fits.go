package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// saying are the flags of the root that hold for every command.
var saying = []string{"silent", "show-error", "verbose", "error-json", "config", "no-config"}

// fits fits a command that brings no single object to the flags of the root.
// Those about one object are refused where they are typed, for what does
// nothing misleads; those that say how servers are asked, which an alias may
// hold, are not. Its help names the ones that hold. A configuration file is
// for every command. Instead has what to type for some.
func fits(c *cobra.Command, names []string, instead map[string]string) *cobra.Command {
	holds := func(f *pflag.Flag) bool { return slices.Contains(names, f.Name) || slices.Contains(saying, f.Name) }
	borne := mirrorTakes()
	args := c.Args
	c.Args = func(c *cobra.Command, given []string) (err error) { // before the configuration is read
		c.InheritedFlags().VisitAll(func(f *pflag.Flag) {
			if f.Changed && !holds(f) && !slices.Contains(borne, f.Name) && err == nil {
				err = fetch.Usage.Errorf("--%s means nothing to %s%s", f.Name, c.CommandPath(), instead[f.Name])
			}
		})
		if err == nil && args != nil {
			err = args(c, given)
		}
		return err
	}
	c.SetUsageFunc(func(c *cobra.Command) error {
		var b strings.Builder
		fmt.Fprintf(&b, "Usage:\n  %s\n\nFlags:\n%s", c.UseLine(), c.LocalFlags().FlagUsages())
		if c.HasExample() {
			fmt.Fprintf(&b, "\nExamples:\n%s\n", c.Example)
		}
		b.WriteString("\nFlags of fetch that hold here too, see fetch --help:\n ")
		width := 1
		c.InheritedFlags().VisitAll(func(f *pflag.Flag) {
			if !holds(f) || f.Hidden {
				return
			}
			if width += len(f.Name) + 3; width > 78 {
				width = len(f.Name) + 4
				b.WriteString("\n ")
			}
			b.WriteString(" --" + f.Name)
		})
		_, err := fmt.Fprintln(c.OutOrStdout(), b.String())
		return err
	})
	return c
}

// ofBodies are the flags about where a body goes and how its transfer went.
var ofBodies = []string{
	"output", "remote-name", "remote-header-name", "output-dir", "continue-at", "include", "checksum", "meta", "write-out",
}

// bodiless refuses ofBodies where they are typed for a command that writes a
// listing or a record to standard output, unless it brings bodies after all.
func bodiless(c *cobra.Command, brings func() bool) *cobra.Command {
	args := c.Args
	c.Args = func(c *cobra.Command, given []string) error {
		for _, name := range ofBodies {
			if c.Flags().Changed(name) && !brings() {
				return fetch.Usage.Errorf("--%s means nothing to %s, which writes to standard output", name, c.CommandPath())
			}
		}
		if args == nil {
			return nil
		}
		return args(c, given)
	}
	return c
}
