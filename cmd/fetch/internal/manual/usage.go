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
	minColumns = 40  // smallest width of a help text
	maxColumns = 100 // largest width of a help text
	maxNames   = 30  // columns for the names of a flag
)

// Columns returns the width of a help text for a terminal of the given width.
func Columns(terminal int) int { return min(max(terminal, minColumns), maxColumns) }

// Help returns the description of a command and its usage. The arguments have the
// same meaning as in [Usage].
func Help(cmd *cobra.Command, set *options.Set, all bool, columns int) string {
	text := cmd.Long
	if text == "" {
		text = cmd.Short
	}
	return Fill(text, columns) + "\n" + Usage(cmd, set, all, columns)
}

// Fill wraps the paragraphs of text. Lines that start with a space keep their
// line breaks. So do lines with columns, such as the forms of a URL, and the
// list of flags at the end of a text. The result ends with a line end.
func Fill(text string, columns int) string {
	w := writer{columns: columns}
	var paragraph []string
	flush := func(hanging int) {
		if len(paragraph) > 0 {
			w.wrapped(strings.Join(paragraph, " "), 0, hanging)
		}
		paragraph = nil
	}
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if line == "" || strings.HasPrefix(line, " ") || isTabular(line) {
			flush(0)
		}
		switch {
		case isTabular(line) && len(line) > columns:
			paragraph = append(paragraph, line)
			flush(4)
		case line == "" || strings.HasPrefix(line, " ") || isTabular(line):
			w.WriteString(line + "\n")
		default:
			if strings.HasPrefix(line, "Flags: ") {
				flush(0)
			}
			paragraph = append(paragraph, line)
		}
	}
	flush(0)
	return w.String()
}

// isTabular reports whether a line has columns that spaces separate.
func isTabular(line string) bool { return strings.Contains(strings.TrimSpace(line), "   ") }

// A writer collects a help text.
type writer struct {
	strings.Builder
	columns int // maximum width of a line
}

// Usage returns the help text of a command: synopsis, commands, flags, examples
// and exit codes. If all is true, the text describes every flag. Otherwise it
// describes only the flags that other commands do not have. Except in examples,
// lines have at most the given number of columns.
func Usage(cmd *cobra.Command, set *options.Set, all bool, columns int) string {
	b := writer{columns: columns}
	fmt.Fprintf(&b, "Usage:\n  %s\n", cmd.UseLine())
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND\n\nCommands:\n", cmd.CommandPath())
		for _, sub := range cmd.Commands() {
			if isListed(sub) {
				b.term("  "+sub.Name(), sub.Short, cmd.NamePadding()+4)
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
			b.flags(section.Flags)
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
		b.wrapped(names, 2, 4)
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
		b.wrapped("Exit codes: "+strings.Join(codes, "; ")+".", 0, 2)
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

// flags writes the names and the descriptions of flags.
func (b *writer) flags(flags []*pflag.Flag) {
	width := 0
	for _, f := range flags {
		if n := len(flagNames(f)); n <= maxNames {
			width = max(width, n)
		}
	}
	for _, f := range flags {
		b.term("  "+flagNames(f), description(f), width+4)
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

// term writes a term, such as a flag, and its description. The description is
// indented by width columns.
func (b *writer) term(term, text string, width int) {
	if len(term)+2 > width {
		b.WriteString(term + "\n")
		b.wrapped(text, width, width)
		return
	}
	fmt.Fprintf(b, "%-*s", width, term)
	b.wrapped(text, 0, width)
}

// wrapped writes text in lines of at most b.columns columns. The parameters first
// and rest are the indentation of the first line and of all other lines.
func (b *writer) wrapped(text string, first, rest int) {
	b.WriteString(strings.Repeat(" ", first))
	column := max(first, rest)
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case column+1+len(word) > b.columns:
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
