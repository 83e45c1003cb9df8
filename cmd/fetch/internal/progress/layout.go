package progress

import (
	"strings"

	"github.com/anyurl/fetch/internal/base/tty"
)

// A part is a piece of a status line. Two spaces precede a part, unless its text
// starts with a comma or a slash. If the line is too long, the parts with
// the lowest rank are omitted.
type part struct {
	text string
	rank int
}

const (
	minURL  = 12 // parts are omitted if they leave fewer columns for the URL
	minBar  = 10 // a bar with fewer columns is omitted
	maxBar  = 24 // maximum columns of a bar next to a URL that is cut
	wideBar = 50 // maximum columns of a bar next to a complete URL
)

// line joins the URL, an optional bar and the parts. The result occupies fewer
// than width columns, so that the terminal does not wrap it. A width of 0 means
// no limit.
func (s *Snapshot) line(parts []part, width int, withBar bool) string {
	url := s.URL
	if width <= 0 {
		return strings.TrimLeft(url+"  "+join(parts), " ")
	}
	free := width - 1
	needed := 0
	if url != "" {
		needed = min(tty.Width(url), minURL) + len("  ")
	}
	for len(parts) > 1 && needed+tty.Width(join(parts)) > free {
		parts = withoutLowest(parts)
	}
	right := join(parts)
	if url == "" {
		return tty.Cut(right, free)
	}
	free -= tty.Width(right) + len("  ")
	if free < 1 {
		return tty.Cut(right, width-1)
	}
	bar := ""
	if columns := barColumns(tty.Width(url), free-len(" ")); withBar && s.share() >= 0 && columns >= minBar {
		bar = drawBar(s.share(), columns) + " "
	}
	return tail(url, free-len(bar)) + "  " + bar + right
}

// barColumns returns the width of the progress bar. The bar and a URL of the
// given width share the columns. The URL is shown completely if the bar has
// enough columns.
func barColumns(url, columns int) int {
	if url > columns-minBar {
		return min(columns-max(minURL, columns-maxBar), maxBar)
	}
	return min(columns-url, wideBar)
}

func join(parts []part) string {
	var b strings.Builder
	for i, p := range parts {
		switch {
		case i == 0:
		case strings.HasPrefix(p.text, "/ "):
			b.WriteString(" ")
		case !strings.HasPrefix(p.text, ", "):
			b.WriteString("  ")
		}
		b.WriteString(p.text)
	}
	return strings.TrimPrefix(b.String(), ", ")
}

// withoutLowest returns a copy of parts without the part of the lowest rank.
func withoutLowest(parts []part) []part {
	lowest := 0
	for i, p := range parts {
		if p.rank < parts[lowest].rank {
			lowest = i
		}
	}
	return append(append([]part(nil), parts[:lowest]...), parts[lowest+1:]...)
}

// drawBar returns a bar of the given number of columns, such as [===>------].
func drawBar(share float64, columns int) string {
	inner := columns - len("[]")
	done := int(share * float64(inner))
	head := ""
	if done < inner && done > 0 {
		done, head = done-1, ">"
	}
	return "[" + strings.Repeat("=", done) + head + strings.Repeat("-", inner-done-len(head)) + "]"
}

// tail fits s to exactly the given number of columns. It pads s with spaces, or
// replaces the start of s by "…".
func tail(s string, columns int) string {
	if n := tty.Width(s); n <= columns {
		return s + strings.Repeat(" ", columns-n)
	}
	if columns <= 0 {
		return ""
	}
	runes := []rune(s)
	used, start := 0, len(runes)
	for start > 0 && used+tty.RuneWidth(runes[start-1]) < columns {
		start--
		used += tty.RuneWidth(runes[start])
	}
	return "…" + string(runes[start:]) + strings.Repeat(" ", columns-1-used)
}
