package browse

import (
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/listing"
	"github.com/anyurl/fetch/cmd/fetch/internal/page"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
)

// A view prints a page, one screen at a time. All lines are escaped.
type view struct {
	next func() (string, bool)
	stop func()
	line string // the next line, if more is true
	more bool
}

// newView returns a view that starts at the first line of a page.
func newView(lines iter.Seq[string]) *view {
	v := &view{}
	v.next, v.stop = iter.Pull(lines)
	v.line, v.more = v.next()
	return v
}

// print writes lines to w until they fill the given number of rows of a terminal
// with the given width. If rows is zero, it writes all lines.
func (v *view) print(w io.Writer, width, rows int) error {
	for used := 0; v.more; v.line, v.more = v.next() {
		if used += rowsOf(v.line, width); rows > 0 && used > rows && used > rowsOf(v.line, width) {
			return nil
		}
		if _, err := io.WriteString(w, v.line+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// rowsOf returns the number of terminal rows that a line occupies.
func rowsOf(line string, width int) int {
	return max((tty.Width(line)+7*strings.Count(line, "\t")+width-1)/max(width, 1), 1)
}

// lines returns the escaped lines of a page, with its title and its URL.
func (b *Browser) lines(p *page.Page) iter.Seq[string] {
	width, _ := b.Size()
	return func(yield func(string) bool) {
		for _, line := range b.heading(p) {
			if !yield(line) {
				return
			}
		}
		if p.Kind == page.Listing {
			b.listingLines(p, width)(yield)
			return
		}
		for line := range strings.Lines(p.Text) {
			if !yield(escapeLine(strings.TrimRight(line, "\r\n"))) {
				return
			}
		}
		for _, line := range append(b.references(p), notes(p)...) {
			if !yield(line) {
				return
			}
		}
	}
}

// references returns the numbered URLs of the links in a text, like lynx -dump.
// It returns none on a terminal, where a number opens its link.
func (b *Browser) references(p *page.Page) (lines []string) {
	if b.Interactive || p.Kind != page.Text || p.Len() == 0 {
		return nil
	}
	lines = append(lines, "", "Links")
	digits := len(fmt.Sprint(p.Len()))
	for _, item := range p.Items {
		if item.Number > 0 {
			lines = append(lines, fmt.Sprintf("%*d  %s", digits+1, item.Number, tty.Escape(item.URL.WithoutUserinfo().String())))
		}
	}
	return lines
}

// heading returns the first lines of a page.
func (b *Browser) heading(p *page.Page) []string {
	lines := []string{tty.Escape(p.Title)}
	if b.Color {
		lines[0] = "\x1b[1m" + lines[0] + "\x1b[0m" // bold
	}
	if url := p.URL.String(); url != "" && url != p.Title {
		lines = append(lines, tty.Escape(url))
	}
	return append(lines, "")
}

// notes returns the last lines of a page, which describe the content that is not
// displayed.
func notes(p *page.Page) []string {
	switch {
	case p.Kind == page.File:
		return []string{fmt.Sprintf("This object cannot be displayed: %s, %s bytes. Type s FILE to save it.",
			tty.Escape(orUnknown(p.Media)), size(p.Size))}
	case p.Kind == page.Search:
		return []string{"This is a searchable index. Type /WORDS to search it."}
	case p.Truncated:
		return []string{"", "The page is longer than the limit. Type s FILE to save it completely."}
	}
	return nil
}

// listingLines returns the lines of a listing. Columns that no entry uses are
// omitted.
func (b *Browser) listingLines(p *page.Page, width int) iter.Seq[string] {
	digits := len(fmt.Sprint(p.Len()))
	format := listing.Format{Width: max(width-digits-3, 1), Color: b.Color, Palette: b.Palette, Links: b.Links, Now: b.Now(), Scheme: b.Scheme, HideSize: true, HideTime: true}
	for _, item := range p.Items {
		format.HideSize = format.HideSize && item.Size < 0
		format.HideTime = format.HideTime && item.Time.IsZero()
	}
	return func(yield func(string) bool) {
		for _, item := range p.Items {
			line := format.Line(item.Entry)
			switch {
			case item.Kind == fetch.Info:
			case item.Number > 0:
				line = fmt.Sprintf("%*d  %s", digits+1, item.Number, line)
			default:
				line = strings.Repeat(" ", digits+3) + line
			}
			if !yield(line) {
				return
			}
		}
		switch {
		case len(p.Items) == 0:
			yield("The listing is empty.")
		case p.Truncated:
			yield("The listing is longer than the limit.")
		}
	}
}

// escapeLine escapes a line of a text. Tabs are kept.
func escapeLine(line string) string {
	parts := strings.Split(line, "\t")
	for i, part := range parts {
		parts[i] = tty.Escape(part)
	}
	return strings.Join(parts, "\t")
}

func orUnknown(mediaType string) string {
	if mediaType == "" {
		return "unknown type"
	}
	return mediaType
}

func size(n int64) string {
	if n < 0 {
		return "unknown number of"
	}
	return fmt.Sprint(n)
}
