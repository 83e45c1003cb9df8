// Package doc contains the pages of this folder, for the help of the command.
package doc

import (
	"embed"
	"slices"
	"strings"
)

//go:embed *.md
var files embed.FS

// A Page is a page of the documentation.
type Page struct {
	Name  string // name of the file without its extension, such as "mirroring"
	Title string
	Text  string // Markdown
}

// reports lists the pages that contain results of tests and not instructions.
var reports = []string{"curl-cases"}

// Pages returns the pages in alphabetical order of their names.
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
