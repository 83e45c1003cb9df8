package markdown

import (
	"strings"

	"github.com/anyurl/fetch/internal/base/lazy"
	"github.com/anyurl/fetch/internal/base/tty"
)

// Escape sequences for the styles of words.
const (
	bold      = "\x1b[1m"
	underline = "\x1b[4m"
	reset     = "\x1b[0m"
)

var (
	markdownLink = lazy.Regexp(`!?\[([^\]]+)\]\(([^)\s]+)\)`)
	pageLink     = lazy.Regexp(`^([a-z0-9.-]+)\.md(?:#.*)?$`)
	mark         = lazy.Regexp("`[^`]+`|\\*\\*[^*]+\\*\\*|\\*[A-Za-z][^*]*\\*")
)

// A word is text without spaces. Its text may contain escape sequences.
type word struct {
	text  string
	width int // columns on the terminal
}

// words splits text with inline marks into words. If styles is true, escape
// sequences replace the marks of code, strong text and emphasized text.
// Otherwise, code keeps its marks.
func words(text string, styles bool) (all []word) {
	glued := false // the next piece continues the last word
	add := func(piece, style string) {
		fields := strings.Fields(piece)
		if len(fields) == 0 {
			glued = glued && piece == ""
			return
		}
		if strings.TrimLeft(piece, " \n") != piece {
			glued = false
		}
		for i, f := range fields {
			w := word{f, tty.Width(f)}
			if style != "" {
				w.text = style + f + reset
			}
			if glued && i == 0 {
				last := &all[len(all)-1]
				last.text, last.width = last.text+w.text, last.width+w.width
				continue
			}
			all = append(all, w)
		}
		glued = strings.TrimRight(piece, " \n") == piece
	}
	text = markdownLink().ReplaceAllStringFunc(text, linkText)
	for text != "" {
		at := mark().FindStringIndex(text)
		if at == nil {
			at = []int{len(text), len(text)}
		}
		add(text[:at[0]], "")
		add(styled(text[at[0]:at[1]], styles))
		text = text[at[1]:]
	}
	return all
}

// styled returns the text between two marks, such as **, and its escape
// sequence.
func styled(marked string, styles bool) (text, style string) {
	switch {
	case strings.HasPrefix(marked, "`"):
		if !styles {
			return marked, ""
		}
		text, style = strings.Trim(marked, "`"), bold
	case strings.HasPrefix(marked, "**"):
		text, style = strings.Trim(marked, "*"), bold
	default:
		text, style = strings.Trim(marked, "*"), underline
	}
	if !styles {
		style = ""
	}
	return text, style
}

// linkText converts a Markdown link to text. An image becomes its description.
func linkText(link string) string {
	parts := markdownLink().FindStringSubmatch(link)
	text, target := parts[1], parts[2]
	if strings.HasPrefix(link, "!") {
		return "[Image: " + text + "]"
	}
	if page := pageLink().FindStringSubmatch(target); page != nil {
		return text + " (fetch help " + page[1] + ")"
	}
	if strings.Contains(target, "://") {
		return text + " (" + target + ")"
	}
	return text
}

// width returns the columns of words that are separated by spaces.
func width(all []word) int {
	n := max(len(all)-1, 0)
	for _, w := range all {
		n += w.width
	}
	return n
}

// wrap returns lines of at most the given number of columns. A longer word is on
// a separate line. The first line and the other lines have the given prefixes.
func wrap(all []word, columns int, first, rest string) (lines []string) {
	line, used := first, len(first)
	empty := true // the line has only its prefix
	for _, w := range all {
		if !empty && used+1+w.width > columns {
			lines = append(lines, line)
			line, used, empty = rest, len(rest), true
		}
		if !empty {
			line, used = line+" ", used+1
		}
		line, used, empty = line+w.text, used+w.width, false
	}
	return append(lines, strings.TrimRight(line, " "))
}
