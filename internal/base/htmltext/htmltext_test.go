package htmltext

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/anyurl/fetch/internal/base/tty"
)

func render(t *testing.T, page string, width int) (Text, []string) {
	t.Helper()
	var links []string
	text, err := Render(strings.NewReader(page), Options{Width: width, Link: func(ref, text string) int {
		if strings.HasPrefix(ref, "#") {
			return 0
		}
		links = append(links, ref+" "+text)
		return len(links)
	}})
	if err != nil {
		t.Fatal(err)
	}
	return text, links
}

func TestRender(t *testing.T) {
	for _, c := range []struct {
		name, page, want string
	}{
		{"empty page", "", ""},
		{"text without markup", "some\n text", "some text\n"},
		{"lines are wrapped", strings.Repeat("word ", 9), "word word word word word word\nword word word\n"},
		{"a long word has its own line", "a " + strings.Repeat("x", 40) + " b", "a\n" + strings.Repeat("x", 40) + "\nb\n"},
		{"wide characters", strings.Repeat("日", 20), strings.Repeat("日", 15) + "\n" + strings.Repeat("日", 5) + "\n"},
		{"entities", "a &lt;b&gt; &amp; &copy; &#x41; &nosuch; &#0;", "a <b> & © A &nosuch; \ufffd\n"},
		{"a word across elements", "f<b>oo</b>bar <i>x</i>.", "foobar x.\n"},
		{"headings", "<h1>Top</h1><h2>Part <em>one</em></h2>text<h3>Small</h3>text",
			"Top\n===\n\nPart one\n--------\n\ntext\n\nSmall\n\ntext\n"},
		{"empty heading", "<h1></h1>text", "text\n"},
		{"paragraphs", "<p>one<p>two</p>three<br>four", "one\n\ntwo\n\nthree\nfour\n"},
		{"rule", "a<hr>b", "a\n" + strings.Repeat("-", 30) + "\nb\n"},
		{"list", "<ul><li>one<li>two<ul><li>deep</ul><li>a long item that is wrapped</ul>end",
			"* one\n* two\n  * deep\n* a long item that is wrapped\n\nend\n"},
		{"wrapped item", "<ul><li>a longer item which is wrapped twice</ul>", "* a longer item which is\n  wrapped twice\n"},
		{"ordered list", "<ol><li>one</li><li>two</li></ol>", " 1. one\n 2. two\n"},
		{"item without a list", "<li>one", "* one\n"},
		{"definitions", "<dl><dt>term<dd>definition<dt>term<dd>definition</dl>end",
			"term\n    definition\nterm\n    definition\n\nend\n"},
		{"quotation", "<blockquote>a quotation of many many words</blockquote>end",
			"    a quotation of many many\n    words\n\nend\n"},
		{"preformatted text", "<pre>\n a  b\n\n  c\n</pre>end", " a  b\n\n  c\n\nend\n"},
		{"link in preformatted text", "<pre>a <a href=x>b</a>  c</pre>", "a b[1]  c\n"},
		{"links", `<a href=a>one</a>, <a href="b">two words</a>.`, "one[1], two words[2].\n"},
		{"link without an end", "<a href=a>one <a href=b>two", "one[1] two[2]\n"},
		{"link without a number", "<a href=#top>top</a> <a name=x>here</a>", "top here\n"},
		{"image in a link", "<a href=a><img src=x alt=Logo></a><a href=b><img src=y></a>", "Logo[1][2]\n"},
		{"block in a link", "<a href=a><h3>Title</h3></a>text", "Title[1]\n\ntext\n"},
		{"table", "<table><caption>Prices</caption><tr><th>Fruit<th>Price<tr><td>Apple</td>\n<td>3</td></table>end",
			"Prices\nFruit | Price\nApple | 3\n\nend\n"},
		{"paragraphs in cells", "<table><tr><td><p>a</p></td><td><div>b</div></td></tr></table>", "a | b\n"},
		{"empty cells", "<table><tr><td></td><td>b<td></td></tr><tr><td>c</td></tr></table>", "b\nc\n"},
		{"nested table", "<table><tr><td>a<table><tr><td>b<td>c</table></table>d", "a\n\nb | c\n\nd\n"},
		{"frames", "<frameset><frame src=menu.html name=menu><frame src=b></frameset><noframes>a <b>page</b></noframes>",
			"frame menu[1]\nframe[2]\na page\n"},
		{"content of an iframe", "a<iframe src=x><p>replacement</iframe>b", "a\nframe[1]\nb\n"},
		{"scripts and styles", "a<script>if (1<2) x()</script><style>b{}</style><svg><text>c</text></svg> d", "a d\n"},
		{"noscript", "<noscript>use <a href=x>this</a></noscript>", "use this[1]\n"},
		{"title in the text", "<title>T</title>a<title>U</title>b", "ab\n"},
		{"comments", "a<!-- <p> -->b<![CDATA[x]]>", "ab\n"},
		{"end tags without a start", "</ul></pre></a></table>a</h3>b", "a\n\nb\n"},
		{"unclosed tag", "a<b", "a\n"},
		{"control characters are kept for the caller", "a\x1b[31mb", "a\x1b[31mb\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, _ := render(t, c.page, 30); got.Body != c.want || got.Truncated {
				t.Errorf("got\n%q\nwant\n%q", got.Body, c.want)
			}
		})
	}
}

func TestTitleAndLinks(t *testing.T) {
	got, links := render(t, `<title> A
		title </title><a href=" x?a=1&amp;b=2 "> the
		link</a><a href=y></a><map><area href=z alt=Area></map>`, 0)
	want := []string{"x?a=1&b=2 the link", "y ", "z Area"}
	if got.Title != "A title" || fmt.Sprint(links) != fmt.Sprint(want) {
		t.Errorf("got title %q and links %q", got.Title, links)
	}
}

// hostile has pages that could need much memory, time or stack.
func hostile() map[string]string {
	return map[string]string{
		"deep lists":        strings.Repeat("<ul><li>", 50_000) + "x",
		"deep quotations":   strings.Repeat("<blockquote>x", 50_000),
		"deep tables":       strings.Repeat("<table><tr><td>x", 50_000),
		"deep inline":       strings.Repeat("<b>", 200_000) + "x",
		"huge table":        "<table>" + strings.Repeat("<tr><td>a<td>b<td>c", 50_000) + "</table>",
		"wide table":        "<table><tr>" + strings.Repeat("<td>a", 100_000) + "</table>",
		"many links":        strings.Repeat("<a href=x>y</a>", 50_000),
		"many empty blocks": strings.Repeat("<p><div></div>", 100_000),
		"end tags":          strings.Repeat("</ul></dl></a></table>", 50_000),
		"long word":         strings.Repeat("x", 900_000),
		"entities":          strings.Repeat("&amp;&#x10ffff;&#xd800;", 30_000),
		"many attributes":   "<a " + strings.Repeat("b=c ", 100_000) + "href=x>y</a>",
		"many items":        strings.Repeat("<dl><dd><ol><li>x", 30_000),
		"empty lines":       "<pre>" + strings.Repeat("\n", 900_000),
	}
}

func TestHostile(t *testing.T) {
	for name, page := range hostile() {
		t.Run(name, func(t *testing.T) {
			got, _ := render(t, page, 40)
			if len(got.Body) > 20*len(page)+1000 {
				t.Errorf("%d bytes from a page of %d bytes", len(got.Body), len(page))
			}
		})
	}
}

// TestManyAttributes renders a tag of nearly the maximum size.
func TestManyAttributes(t *testing.T) {
	var page strings.Builder
	page.WriteString("<a href=first HREF=second ")
	for n := 0; page.Len() < maxToken-100; n++ {
		fmt.Fprintf(&page, "b%d ", n)
	}
	page.WriteString(">text</a>")
	var refs []string
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := Render(strings.NewReader(page.String()), Options{Link: func(ref, _ string) int { refs = append(refs, ref); return 1 }})
	runtime.ReadMemStats(&after)
	if err != nil || got.Body != "text[1]\n" || !slices.Equal(refs, []string{"first"}) {
		t.Errorf("got %q and the links %q, %v", got.Body, refs, err)
	}
	if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 60 {
		t.Errorf("%d MiB allocated", used)
	}
}

func TestLimits(t *testing.T) {
	got, err := Render(strings.NewReader("<p>start<p>"+strings.Repeat("<p>word", 1000)), Options{MaxText: 100})
	if err != nil || !got.Truncated || len(got.Body) > 120 || !strings.HasPrefix(got.Body, "start\n\nword") {
		t.Errorf("got %q, %v", got.Body, err)
	}
	for _, lines := range []string{strings.Repeat("\n", 10_000) + "x", strings.Repeat("x\n", 10_000)} {
		got, err = Render(strings.NewReader(strings.Repeat("<blockquote>", 30)+"<pre>a\n"+lines), Options{MaxText: 1000})
		if err != nil || !got.Truncated || len(got.Body) > 1200 {
			t.Errorf("indented lines: got %d bytes, %v, %v", len(got.Body), got.Truncated, err)
		}
	}
	got, err = Render(strings.NewReader("start<p title='"+strings.Repeat("x", 2<<20)+"'>end"), Options{})
	if err != nil || !got.Truncated || got.Body != "start\n" {
		t.Errorf("long tag: got %q, %v", got.Body, err)
	}
	failure := errors.New("connection reset")
	got, err = Render(io.MultiReader(strings.NewReader("<p>start<p>more"), iotest.ErrReader(failure)), Options{})
	if err != failure || !strings.HasPrefix(got.Body, "start\n") {
		t.Errorf("read error: got %q, %v", got.Body, err)
	}
}

// FuzzRender checks that lines are not too long, and that each link has a number
// in the text.
func FuzzRender(f *testing.F) {
	for _, page := range []string{"<h1>a</h1><p>b<a href=c>d</a>", "<table><tr><td>a<td>b", "<ul><li>a<ol><li>b", "<pre>a\nb</pre>",
		"<dl><dt>a<dd>b", "<a href=x><h1>y</a>", "<frame src=x>"} {
		f.Add(page, 20)
	}
	f.Fuzz(func(t *testing.T, page string, width int) {
		width = 1 + abs(width)%200
		n := 0
		text, err := Render(strings.NewReader(page), Options{Width: width, Link: func(string, string) int { n++; return n }})
		if err != nil {
			t.Fatal(err)
		}
		if text.Body != "" && !strings.HasSuffix(text.Body, "\n") {
			t.Errorf("the last line has no end: %q", text.Body)
		}
		if strings.Contains(text.Body, "\n\n\n") && !strings.Contains(page, "<") {
			t.Errorf("two empty lines in %q", text.Body)
		}
		if !text.Truncated && len(text.Body) > 10_000+(width+10)*len(page) {
			t.Errorf("%d bytes from a page of %d bytes", len(text.Body), len(page))
		}
		for i := 1; i <= n; i++ {
			if !strings.Contains(text.Body, fmt.Sprintf("[%d]", i)) {
				t.Errorf("no [%d] in %q", i, text.Body)
			}
		}
		for line := range strings.Lines(text.Body) { // only one word may be longer
			line = strings.TrimSuffix(line, "\n")
			if tty.Width(line) > 2*width && strings.Contains(strings.TrimLeft(line, " *.0123456789"), " ") &&
				!strings.ContainsAny(page, "<") {
				t.Errorf("line %q is longer than %d columns", line, width)
			}
		}
	})
}

func abs(n int) int {
	if n < 0 {
		return -(n + 1)
	}
	return n
}

func BenchmarkRender(b *testing.B) {
	page := strings.Repeat("<h2>Part</h2><p>Some words of a paragraph with <a href=x>a link</a>.</p><ul><li>one<li>two</ul>\n", 1000)
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Render(strings.NewReader(page), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
