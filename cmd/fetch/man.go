package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// man returns the command that writes the manual pages.
func (a *app) man(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIRECTORY",
		Short: "Write the manual pages",
		Long:  "man writes the manual pages to a directory. It creates the directory if necessary.",
		Args:  exactly(1, "a directory"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fetch.Local.With(err)
			}
			return fetch.Local.With(writeMan(root, args[0]))
		},
	}
}

// writeMan writes a page for c and for each of its subcommands.
func writeMan(c *cobra.Command, dir string) error {
	if err := os.WriteFile(filepath.Join(dir, manName(c)+".1"), []byte(manPage(c)), 0o644); err != nil {
		return err
	}
	for _, sub := range c.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		if err := writeMan(sub, dir); err != nil {
			return err
		}
	}
	return nil
}

// manName returns the name of the page of c: "fetch-uri-parse".
func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manPage returns the page of c in the macros of man(7).
func manPage(c *cobra.Command) string {
	var b strings.Builder
	line := func(parts ...string) { b.WriteString(strings.Join(parts, "") + "\n") }
	line(`.TH "`, roff(strings.ToUpper(manName(c))), `" 1 "" "`, roff("fetch "+version), `" "User Commands"`)
	line(".SH NAME")
	line(roff(manName(c)), ` \- `, roff(c.Short))
	line(".SH SYNOPSIS")
	line(".B ", roff(c.CommandPath()))
	line(roff(strings.TrimSpace(strings.TrimPrefix(c.UseLine(), c.CommandPath()))))
	line(".SH DESCRIPTION")
	b.WriteString(roffText(c.Long + "\n"))
	if c.LocalFlags().HasAvailableFlags() {
		line(".SH OPTIONS")
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { b.WriteString(manOption(f)) })
	}
	if c.HasParent() && c.InheritedFlags().HasAvailableFlags() {
		line(".SH OPTIONS OF FETCH")
		line(`Options about connections, proxies, logins and limits are described in fetch(1).`)
		line(".B ", roff(c.CommandPath()+" --help"))
		line("lists those that apply.")
	}
	if c.HasExample() {
		line(".SH EXAMPLES")
		b.WriteString(roffText(c.Example + "\n"))
	}
	if related := manRelated(c); len(related) > 0 {
		line(".SH SEE ALSO")
		line(strings.Join(related, ", "))
	}
	return b.String()
}

// manRelated returns references to the pages of the parent of c and of its
// subcommands.
func manRelated(c *cobra.Command) (pages []string) {
	reference := func(c *cobra.Command) string { return `\fB` + roff(manName(c)) + `\fR(1)` }
	if c.HasParent() {
		pages = append(pages, reference(c.Parent()))
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			pages = append(pages, reference(sub))
		}
	}
	return pages
}

// manOption returns the entry of a flag, or "" for a hidden flag.
func manOption(f *pflag.Flag) string {
	if f.Hidden || f.Deprecated != "" {
		return ""
	}
	value, usage := pflag.UnquoteUsage(f)
	names := `\fB` + roff("--"+f.Name) + `\fR`
	if f.Shorthand != "" {
		names = `\fB` + roff("-"+f.Shorthand) + `\fR, ` + names
	}
	if value != "" {
		names += ` \fI` + roff(value) + `\fR`
	}
	switch f.DefValue {
	case "", "0", "0s", "false", "[]":
	default:
		usage += " (default " + f.DefValue + ")"
	}
	return ".TP\n" + names + "\n" + roff(usage) + "\n"
}

// roffText returns text with its paragraphs. Lines that begin with a space are
// not filled.
func roffText(text string) string {
	var b strings.Builder
	filled := true
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if fill := !strings.HasPrefix(line, " "); line != "" && fill != filled {
			b.WriteString(map[bool]string{true: ".fi\n", false: ".nf\n"}[fill])
			filled = fill
		}
		if line == "" {
			b.WriteString(".PP\n")
			continue
		}
		b.WriteString(roff(line) + "\n")
	}
	if !filled {
		b.WriteString(".fi\n")
	}
	return strings.TrimSuffix(b.String(), ".PP\n")
}

// roff escapes one line of text.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
