package manual

import (
	"strings"

	"github.com/anyurl/fetch/doc"
	"github.com/anyurl/fetch/internal/base/lazy"
)

var (
	markdownLink = lazy.Regexp(`\[([^\]]+)\]\(([^)\s]+)\)`)
	pageLink     = lazy.Regexp(`^([a-z-]+)\.md(?:#.*)?$`)
)

// Topic converts a page of the documentation from Markdown to text for a
// terminal. A link to another page becomes the command that prints the page.
// Code blocks are unchanged.
func Topic(text string) string {
	var b strings.Builder
	skipped := false // the previous line was omitted
	for line := range strings.Lines(text) {
		comment := strings.HasPrefix(line, "<!--")
		blank := strings.TrimSpace(line) == ""
		if comment || skipped && blank {
			skipped = true
			continue
		}
		skipped = false
		if !strings.HasPrefix(line, "    ") {
			line = markdownLink().ReplaceAllStringFunc(line, topicLink)
		}
		b.WriteString(line)
	}
	return b.String()
}

// topicLink converts a Markdown link to text.
func topicLink(link string) string {
	parts := markdownLink().FindStringSubmatch(link)
	text, target := parts[1], parts[2]
	if page := pageLink().FindStringSubmatch(target); page != nil {
		return text + " (fetch help " + page[1] + ")"
	}
	if strings.Contains(target, "://") {
		return text + " (" + target + ")"
	}
	return text
}

// Index returns a list of topics and schemes, for the end of a help text.
func Index(pages []doc.Page, schemes []string) string {
	width := 0
	for _, page := range pages {
		width = max(width, len(page.Name))
	}
	var b strings.Builder
	b.WriteString("Topics, described by fetch help TOPIC:\n")
	for _, page := range pages {
		writeTerm(&b, "  "+page.Name, page.Title, width+4)
	}
	b.WriteString("\nSchemes, described by fetch help SCHEME:\n")
	writeWrapped(&b, strings.Join(schemes, " "), 2, 2)
	return strings.TrimRight(b.String(), "\n")
}
