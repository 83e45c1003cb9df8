package markdown

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/doc"
	"github.com/anyurl/fetch/internal/base/tty"
)

// TestRender checks each kind of block at a width of 30 columns.
func TestRender(t *testing.T) {
	for _, c := range []struct {
		oddity, text, want string
		styles             bool
	}{
		{"headings", "# Title\n\n## Part\ntext\n### Small\n", "Title\n=====\n\nPart\n----\n\ntext\n\nSmall\n", false},
		{"styles", "# A *b*\nuse `-o F`, **now** and *later*\n",
			"\x1b[1mA\x1b[0m \x1b[1mb\x1b[0m\n\nuse \x1b[1m-o\x1b[0m \x1b[1mF\x1b[0m, \x1b[1mnow\x1b[0m and \x1b[4mlater\x1b[0m\n", true},
		{"marks without styles", "use `-o F`, **now** and *later*, 2 * 3\n", "use `-o F`, now and later, 2 *\n3\n", false},
		{"paragraph that is too wide", "one two three four five six seven eight\nnine\n", "one two three four five six\nseven eight nine\n", false},
		{"word that is too wide", "a https://example.org/a/long/path/to b\n", "a\nhttps://example.org/a/long/path/to\nb\n", false},
		{"list", "* one two three four five six seven\n* b\n\n1. c\n", "  * one two three four five\n    six seven\n  * b\n  1. c\n", false},
		{"blank lines within a list", "* a\n\n* b\n\ntext\n", "  * a\n  * b\n\ntext\n", false},
		{"code keeps its line breaks", "    fetch 'a'   '[x](b.md)'\n\n    fetch b\n\ntext\n", "    fetch 'a'   '[x](b.md)'\n\n    fetch b\n\ntext\n", false},
		{"fenced code", "```go\nx := 1\n\n# no heading\n```\ntext\n", "    x := 1\n\n    # no heading\n\ntext\n", false},
		{"fence without an end", "```\nx\n", "    x\n", false},
		{"comment between a list and code", "* a\n\n<!-- -->\n\n    b\n", "  * a\n\n    b\n", false},
		{"table", "| a | b |\n|---|---|\n| `x` | one two three four five six seven |\n| y \\| z | |\n",
			"a      b\n-----  -----------------------\n`x`    one two three four five\n       six seven\ny | z\n", false},
		{"table without a header", "| | |\n|---|---|\n| x | y |\n", "x  y\n", false},
		{"row without the last cells", "| a | b |\n|---|---|\n| x |\n", "a  b\n-  -\nx\n", false},
		{"table that does not fit", "| a | b |\n|---|---|\n| abcdefghijklmnopqrs | tuvwxyzabcdefghij k |\n",
			"a\n  b\nabcdefghijklmnopqrs\n  tuvwxyzabcdefghij k\n", false},
		{"wide characters", "| 日本 | b |\n|---|---|\n| x | y |\n", "日本  b\n----  -\nx     y\n", false},
		{"link to a page", "See [Policy](policy.md).\n", "See Policy (fetch help\npolicy).\n", false},
		{"link to a section", "[a](warc.md#http-and-https)\n", "a (fetch help warc)\n", false},
		{"file that is no page", "[the folders](../ARCHITECTURE.md)\n", "the folders\n", false},
		{"web page", "[curl](https://curl.se/)\n", "curl (https://curl.se/)\n", false},
		{"image", "![A menu](img/a.png)\n", "[Image: A menu]\n", false},
		{"brackets without a link", "`[1-9]` (a)\n", "`[1-9]` (a)\n", false},
		{"empty page", "", "\n", false},
	} {
		if got := Render(c.text, Options{Width: 30, Styles: c.styles}); got != c.want {
			t.Errorf("%s: got\n%q\nwant\n%q", c.oddity, got, c.want)
		}
	}
}

// TestPages renders all pages of the documentation. Only code and words that are
// too long for a line may be wider than the terminal.
func TestPages(t *testing.T) {
	pages, err := doc.Pages()
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		for _, width := range []int{40, 80, 100} {
			for line := range strings.Lines(Render(page.Text, Options{Width: width})) {
				line = strings.TrimRight(line, "\n")
				code := strings.HasPrefix(line, "    ")
				if !code && tty.Width(line) > width && strings.Contains(strings.TrimSpace(line), " ") {
					t.Errorf("%s: %d columns at width %d: %s", page.Name, tty.Width(line), width, line)
				}
			}
		}
	}
}

// FuzzRender checks that Render ends for every text, and that it does not write
// escape sequences without styles.
func FuzzRender(f *testing.F) {
	f.Add("# a\n\n* b `c`\n\n| d | e |\n|---|---|\n| **f** | *g* |\n\n    h\n```\ni\n", 40)
	f.Fuzz(func(t *testing.T, text string, width int) {
		if len(text) > 1<<12 {
			return
		}
		got := Render(text, Options{Width: width % 200})
		if strings.Count(got, "\x1b") > strings.Count(text, "\x1b") {
			t.Errorf("%q: escape sequences in %q", text, got)
		}
	})
}
