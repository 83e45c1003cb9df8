// Package markdown converts pages of the documentation from Markdown to text for
// a terminal.
package markdown

import (
	"strings"

	"github.com/anyurl/fetch/internal/base/lazy"
)

// Options describe the text that [Render] returns.
type Options struct {
	Width  int  // maximum columns of a line; code blocks may be wider
	Styles bool // if true, headings and code have escape sequences instead of marks
}

// Render converts a page from Markdown to text. It wraps paragraphs, list items
// and the cells of tables. Code blocks are unchanged. A link to another page
// becomes the command that prints the page. Render supports the Markdown of the
// documentation, and no nested lists.
func Render(text string, o Options) string {
	o.Width = max(o.Width, minWidth)
	r := renderer{Options: o, lines: strings.Split(strings.TrimRight(text, "\n"), "\n")}
	for len(r.lines) > 0 {
		r.block()
	}
	return strings.TrimRight(r.out.String(), "\n") + "\n"
}

// minWidth is the smallest width for which lines are wrapped.
const minWidth = 20

var (
	listItem  = lazy.Regexp(`^(?:[*-]|[0-9]+\.) `)
	separator = lazy.Regexp(`^\|(?: *:?-+:? *\|)+$`)
)

// A renderer contains the lines that are not converted yet, and the text.
type renderer struct {
	Options
	lines []string
	out   strings.Builder
}

// block converts the block at the start of the remaining lines.
func (r *renderer) block() {
	line := r.lines[0]
	switch {
	case strings.TrimSpace(line) == "", strings.HasPrefix(line, "<!--"):
		r.lines = r.lines[1:]
	case strings.HasPrefix(line, "#"):
		r.heading()
	case strings.HasPrefix(line, "```"):
		r.fencedCode()
	case strings.HasPrefix(line, "    "):
		r.indentedCode()
	case strings.HasPrefix(line, "|"):
		r.table(r.take(func(line string) bool { return strings.HasPrefix(line, "|") }))
	case listItem().MatchString(line):
		r.list()
	default:
		r.paragraph(r.take(isText), "", "")
		r.out.WriteString("\n")
	}
}

// isText reports whether a line can continue a paragraph.
func isText(line string) bool {
	return strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "```") &&
		!strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "<!--") && !listItem().MatchString(line)
}

// take removes the first line, and all lines after it for which ok returns true.
func (r *renderer) take(ok func(string) bool) []string {
	n := 1
	for n < len(r.lines) && ok(r.lines[n]) {
		n++
	}
	taken := r.lines[:n]
	r.lines = r.lines[n:]
	return taken
}

// heading converts a heading. Without styles, the headings of the first two
// levels are underlined.
func (r *renderer) heading() {
	text := strings.TrimLeft(r.lines[0], "#")
	level := len(r.lines[0]) - len(text)
	r.lines = r.lines[1:]
	title := words(strings.TrimSpace(text), false)
	for i := range title {
		if r.Styles {
			title[i].text = bold + title[i].text + reset
		}
	}
	lines := wrap(title, r.Width, "", "")
	r.out.WriteString(strings.Join(lines, "\n") + "\n")
	if !r.Styles && level <= 2 {
		mark := map[int]string{1: "=", 2: "-"}[level]
		r.out.WriteString(strings.Repeat(mark, min(width(title), r.Width)) + "\n")
	}
	r.out.WriteString("\n")
}

// fencedCode copies the lines between two fences with an indentation.
func (r *renderer) fencedCode() {
	code := r.take(func(line string) bool { return !strings.HasPrefix(line, "```") })
	if len(r.lines) > 0 {
		r.lines = r.lines[1:] // the closing fence
	}
	for _, line := range code[1:] {
		r.out.WriteString(strings.TrimRight("    "+line, " ") + "\n")
	}
	r.out.WriteString("\n")
}

// indentedCode copies indented lines.
func (r *renderer) indentedCode() {
	code := r.take(func(line string) bool { return strings.HasPrefix(line, "    ") || strings.TrimSpace(line) == "" })
	r.out.WriteString(strings.TrimRight(strings.Join(code, "\n"), " \n") + "\n\n")
}

// list converts the items of a list.
func (r *renderer) list() {
	for len(r.lines) > 0 && listItem().MatchString(r.lines[0]) {
		mark := listItem().FindString(r.lines[0])
		r.lines[0] = r.lines[0][len(mark):]
		r.paragraph(r.take(isText), "  "+mark, strings.Repeat(" ", len("  "+mark)))
		blank := 0
		for blank < len(r.lines) && strings.TrimSpace(r.lines[blank]) == "" {
			blank++
		}
		if rest := r.lines[blank:]; len(rest) > 0 && listItem().MatchString(rest[0]) {
			r.lines = rest
		}
	}
	r.out.WriteString("\n")
}

// paragraph wraps lines. The first and the other lines have the given prefixes.
func (r *renderer) paragraph(lines []string, first, rest string) {
	text := words(strings.Join(lines, "\n"), r.Styles)
	r.out.WriteString(strings.Join(wrap(text, r.Width, first, rest), "\n") + "\n")
}
