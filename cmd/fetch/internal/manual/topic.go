package manual

import (
	"strings"

	"github.com/anyurl/fetch/doc"
)

// Index returns a list of topics and schemes, for the end of a help text.
func Index(pages []doc.Page, schemes []string, columns int) string {
	width := 0
	for _, page := range pages {
		width = max(width, len(page.Name))
	}
	b := writer{columns: columns}
	b.WriteString("Topics, described by fetch help TOPIC:\n")
	for _, page := range pages {
		b.term("  "+page.Name, page.Title, width+4)
	}
	b.WriteString("\nSchemes, described by fetch help SCHEME:\n")
	b.wrapped(strings.Join(schemes, " "), 2, 2)
	return strings.TrimRight(b.String(), "\n")
}
