// Package doc embeds the Markdown pages of this folder, which "fetch help
// TOPIC" prints.
package doc

import (
	"embed"
	"slices"
	"strings"
)

//go:embed *.md
var files embed.FS

// A Page is one page of the documentation.
type Page struct {
	Name  string // file name without its extension, such as "mirroring"
	Title string
	Text  string // Markdown
}

// reports lists the pages that Pages omits, because they contain test results
// instead of instructions.
var reports = []string{"curl-cases", "faults", "tested-servers", "testing"}

// Pages returns all pages of the documentation, sorted by name.
func Pages() (pages []Page, err error) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".md")
		if slices.Contains(reports, name) {
			continue
		}
		text, err := files.ReadFile(e.Name())
		if err != nil {
			return nil, err
		}
		title, _, _ := strings.Cut(string(text), "\n")
		pages = append(pages, Page{name, strings.TrimPrefix(title, "# "), string(text)})
	}
	return pages, nil
}

// A Section is a part of a page with a heading.
type Section struct {
	Title string // heading
	Text  string // Markdown after the heading
}

// Sections returns the sections of the page. The first one has the title of the
// page.
func (p *Page) Sections() (all []Section) {
	code := false // within a fenced code block
	for line := range strings.Lines(p.Text) {
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		if strings.HasPrefix(line, "#") && !code {
			all = append(all, Section{Title: strings.TrimSpace(strings.TrimLeft(line, "#"))})
			continue
		}
		if len(all) > 0 {
			all[len(all)-1].Text += line
		}
	}
	return all
}

// Explaining returns the name of the page that mentions a flag most often, such
// as "policy" for --allow-port. Pages that compare programs and pages for
// programmers are used only if no other page mentions the flag. Explaining
// returns "" if no page mentions it.
func Explaining(pages []Page, flag string) (name string) {
	most := 0
	for _, p := range pages {
		n := 2 * mentions(p.Text, flag)
		if n > 0 && isSecondary(p.Name) {
			n = 1
		}
		if n > most {
			most, name = n, p.Name
		}
	}
	return name
}

// isSecondary reports whether a page compares programs or describes the library.
func isSecondary(name string) bool {
	return strings.HasPrefix(name, "from-") || strings.HasPrefix(name, "library") || strings.HasPrefix(name, "writing-") || name == "errors"
}

// mentions returns the number of times that text contains the flag.
func mentions(text, flag string) (n int) {
	for {
		i := strings.Index(text, flag)
		if i < 0 {
			return n
		}
		preceded := i > 0 && strings.ContainsAny(text[i-1:i], " `(\n")
		text = text[i+len(flag):]
		if preceded && text != "" && !strings.ContainsAny(text[:1], "-abcdefghijklmnopqrstuvwxyz0123456789") {
			n++
		}
	}
}
