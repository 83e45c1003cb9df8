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
