// Package manual writes the help texts and the manual pages of commands.
package manual

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Keys of the cobra annotations that the help and the manual page print. An
// annotation has one line for each term: the term, a TAB and the description. A
// line without a TAB continues the description of the line before.
const (
	ExitStatus  = "exit-status"
	Environment = "environment"
	Files       = "files"
)

const (
	maxColumns = 100 // columns of a help text
	maxNames   = 30  // columns for the names of a flag
)

// Usage returns the help text of a command: synopsis, commands, flags, examples
// and exit codes. If all is true, the text describes every flag. Otherwise it
// describes only the flags that other commands do not have.
func Usage(cmd *cobra.Command, set *options.Set, all bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  %s\n", cmd.UseLine())
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND\n\nCommands:\n", cmd.CommandPath())
		for _, sub := range cmd.Commands() {
			if isListed(sub) {
				writeTerm(&b, "  "+sub.Name(), sub.Short, cmd.NamePadding()+4)
			}
		}
	}
	if set == nil {
		set = &options.Set{Sections: []*options.Section{{Title: "Flags", Flags: cmd.LocalFlags(), Own: true}}}
	}
	var others []string
	for _, section := range Sections(set) {
		if all || section.Own {
			fmt.Fprintf(&b, "\n%s:\n", section.Title)
			writeFlags(&b, section.Flags)
			continue
		}
		names := section.Title + ":"
		for _, f := range section.Flags {
			names += " --" + f.Name
		}
		others = append(others, names)
	}
	if len(others) > 0 {
		b.WriteString("\nOther flags, described by fetch --help:\n")
	}
	for _, names := range others {
		writeWrapped(&b, names, 2, 4)
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	if terms := annotation(cmd, ExitStatus); len(terms) > 0 {
		var codes []string
		for _, t := range terms {
			codes = append(codes, t.name+" "+t.text)
		}
		b.WriteString("\n")
		writeWrapped(&b, "Exit codes: "+strings.Join(codes, "; ")+".", 0, 2)
	}
	return b.String()
}

// isListed reports whether the help lists the command cmd. It includes the help
// command, which cobra omits.
func isListed(cmd *cobra.Command) bool { return cmd.IsAvailableCommand() || cmd.Name() == "help" }

// A Section is a titled group of visible flags.
type Section struct {
	Title string
	Own   bool
	Flags []*pflag.Flag
}

// Sections returns the sections of set that contain visible flags. Sections
// with the same title are merged.
func Sections(set *options.Set) (all []*Section) {
	for _, section := range set.Sections {
		i := slices.IndexFunc(all, func(s *Section) bool { return s.Title == section.Title && s.Own == section.Own })
		if i < 0 {
			i = len(all)
			all = append(all, &Section{Title: section.Title, Own: section.Own})
		}
		section.Flags.VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Deprecated == "" {
				all[i].Flags = append(all[i].Flags, f)
			}
		})
	}
	return slices.DeleteFunc(all, func(s *Section) bool { return len(s.Flags) == 0 })
}

func writeFlags(b *strings.Builder, flags []*pflag.Flag) {
	width := 0
	for _, f := range flags {
		if n := len(flagNames(f)); n <= maxNames {
			width = max(width, n)
		}
	}
	for _, f := range flags {
		writeTerm(b, "  "+flagNames(f), description(f), width+4)
	}
}

// flagNames returns the names of a flag and of its argument, such as
// "-o, --output FILE".
func flagNames(f *pflag.Flag) string {
	names := "    --" + f.Name
	if f.Shorthand != "" {
		names = "-" + f.Shorthand + ", --" + f.Name
	}
	if value, _ := options.Describe(f); value != "" {
		names += " " + value
	}
	return names
}

// description returns the description of f. A default value is appended in
// parentheses.
func description(f *pflag.Flag) string {
	_, usage := options.Describe(f)
	value := strings.Trim(f.DefValue, "[]")
	switch {
	case slices.Contains([]string{"", "0", "0s", "false"}, value) || strings.Contains(usage, "default"):
		return usage
	case strings.HasSuffix(usage, ")"):
		return strings.TrimSuffix(usage, ")") + "; default " + value + ")"
	}
	return usage + " (default " + value + ")"
}

// writeTerm writes a term, such as a flag, and its description. The description
// is indented by width columns.
func writeTerm(b *strings.Builder, term, text string, width int) {
	if len(term)+2 > width {
		b.WriteString(term + "\n")
		writeWrapped(b, text, width, width)
		return
	}
	fmt.Fprintf(b, "%-*s", width, term)
	writeWrapped(b, text, 0, width)
}

// writeWrapped writes text in lines of at most maxColumns columns. The
// parameters first and rest are the indentation of the first line and of all
// other lines.
func writeWrapped(b *strings.Builder, text string, first, rest int) {
	b.WriteString(strings.Repeat(" ", first))
	column := max(first, rest)
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case column+1+len(word) > maxColumns:
			b.WriteString("\n" + strings.Repeat(" ", rest))
			column = rest
		default:
			b.WriteString(" ")
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	b.WriteString("\n")
}

// A term is one line of an annotation, such as an exit code and its meaning.
type term struct{ name, text string }

// annotation returns the terms in the annotation of cmd with the given key.
func annotation(cmd *cobra.Command, key string) (all []term) {
	for line := range strings.Lines(cmd.Annotations[key]) {
		name, text, ok := strings.Cut(strings.TrimSpace(line), "\t")
		switch {
		case ok:
			all = append(all, term{name, text})
		case len(all) > 0:
			all[len(all)-1].text += " " + name
		}
	}
	return all
}
