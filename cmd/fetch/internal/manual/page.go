package manual

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Pages writes manual pages.
type Pages struct {
	Version string                            // version of the program
	Set     func(*cobra.Command) *options.Set // returns the flags of a command
}

// Write writes the manual pages of cmd and of its subcommands to a directory.
func (p *Pages) Write(cmd *cobra.Command, dir string) error {
	if err := os.WriteFile(filepath.Join(dir, pageName(cmd)+".1"), []byte(p.Page(cmd)), 0o644); err != nil {
		return err
	}
	for _, sub := range cmd.Commands() {
		if !isListed(sub) {
			continue
		}
		if err := p.Write(sub, dir); err != nil {
			return err
		}
	}
	return nil
}

// pageName returns the name of the manual page of cmd, such as
// "fetch-uri-parse".
func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// Page returns the manual page of cmd as text with the macros of man(7).
func (p *Pages) Page(cmd *cobra.Command) string {
	var b strings.Builder
	line := func(parts ...string) { b.WriteString(strings.Join(parts, "") + "\n") }
	line(`.TH "`, roff(strings.ToUpper(pageName(cmd))), `" 1 "" "`, roff("fetch "+p.Version), `" "User Commands"`)
	line(".nh") // do not hyphenate names of options
	line(".ad l")
	line(".SH NAME")
	line(roff(pageName(cmd)), ` \- `, roff(lowerFirst(cmd.Short)))
	line(".SH SYNOPSIS")
	line(".B ", roff(cmd.CommandPath()))
	line(roff(strings.TrimSpace(strings.TrimPrefix(cmd.UseLine(), cmd.CommandPath()))))
	line(".SH DESCRIPTION")
	text := cmd.Long
	if text == "" {
		text = pageName(cmd) + ": " + lowerFirst(cmd.Short) + "."
	}
	b.WriteString(roffText(text + "\n"))
	p.writeCommands(&b, cmd)
	p.writeOptions(&b, cmd)
	writeTerms(&b, "EXIT STATUS", annotation(cmd, ExitStatus))
	writeTerms(&b, "ENVIRONMENT", annotation(cmd, Environment))
	writeTerms(&b, "FILES", annotation(cmd, Files))
	if cmd.HasExample() {
		line(".SH EXAMPLES")
		b.WriteString(roffText(cmd.Example + "\n"))
	}
	if related := relatedPages(cmd); len(related) > 0 {
		line(".SH SEE ALSO")
		line(strings.Join(related, ", "))
	}
	return b.String()
}

// writeCommands writes the section of a manual page that lists the subcommands.
func (p *Pages) writeCommands(b *strings.Builder, cmd *cobra.Command) {
	var commands []term
	for _, sub := range cmd.Commands() {
		if isListed(sub) {
			commands = append(commands, term{sub.Name(), sub.Short})
		}
	}
	writeTerms(b, "COMMANDS", commands)
}

// writeOptions writes the options of cmd, grouped in sections. The page of a
// subcommand describes only its own options and lists the names of the others.
func (p *Pages) writeOptions(b *strings.Builder, cmd *cobra.Command) {
	set := p.Set(cmd)
	if set == nil {
		set = &options.Set{Sections: []*options.Section{{Title: "Options", Flags: cmd.LocalFlags(), Own: true}}}
	}
	b.WriteString(".SH OPTIONS\n")
	var others []string
	for _, section := range Sections(set) {
		if cmd.HasParent() && !section.Own {
			for _, f := range section.Flags {
				others = append(others, `\fB`+roff("--"+f.Name)+`\fR`)
			}
			continue
		}
		b.WriteString(".SS " + roff(section.Title) + "\n")
		for _, f := range section.Flags {
			writeOption(b, f)
		}
	}
	if len(others) > 0 {
		b.WriteString(".SS Options of fetch(1)\n")
		b.WriteString(roff(cmd.CommandPath()) + " also has these options, which are described in\n")
		b.WriteString(".BR fetch (1):\n" + strings.Join(others, ",\n") + ".\n")
	}
}

// writeOption writes the names and the description of an option.
func writeOption(b *strings.Builder, f *pflag.Flag) {
	names := `\fB` + roff("--"+f.Name) + `\fR`
	if f.Shorthand != "" {
		names = `\fB` + roff("-"+f.Shorthand) + `\fR, ` + names
	}
	if value, _ := options.Describe(f); value != "" {
		names += ` \fI` + roff(value) + `\fR`
	}
	b.WriteString(".TP\n" + names + "\n" + roff(sentence(description(f))) + "\n")
}

// writeTerms writes a section with a list of terms and descriptions. It writes
// no section if the list is empty.
func writeTerms(b *strings.Builder, title string, terms []term) {
	if len(terms) == 0 {
		return
	}
	b.WriteString(".SH " + title + "\n")
	for _, t := range terms {
		b.WriteString(".TP\n" + `\fB` + roff(t.name) + `\fR` + "\n" + roff(sentence(t.text)) + "\n")
	}
}

// relatedPages returns the references for the section SEE ALSO: the pages of
// the parent and of the subcommands of cmd. The main page also refers to
// related programs.
func relatedPages(cmd *cobra.Command) (pages []string) {
	reference := func(name string) string { return `\fB` + roff(name) + `\fR(1)` }
	if cmd.HasParent() {
		pages = append(pages, reference(pageName(cmd.Parent())))
	}
	for _, sub := range cmd.Commands() {
		if isListed(sub) {
			pages = append(pages, reference(pageName(sub)))
		}
	}
	if !cmd.HasParent() {
		pages = append(pages, reference("curl"), reference("wget"))
	}
	return pages
}

// sentence returns text with a capital first letter and a full stop at the end.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// lowerFirst returns text with its first letter in lower case.
func lowerFirst(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToLower(text[:1]) + text[1:]
}

// roffText converts plain text to roff paragraphs. Lines that start with a
// space keep their line breaks.
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
