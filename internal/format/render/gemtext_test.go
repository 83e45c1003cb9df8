package render

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

func TestGemtext(t *testing.T) {
	link := fetch.Entry{Name: "Moon <b>", URL: uri.MustParse("gemini://h/moon"), Kind: fetch.Menu, Size: -1}
	var entries []fetch.Entry
	for line := range strings.SplitSeq("text <script>\n# Title <i>\n* one\n* two\n## Part\n> quote\n> more\n```art\"\n# in the art\n<pre>\n```\n### Small\n#Other", "\n") {
		entries = append(entries, info(line))
	}
	entries = append(entries, link, info("end"))
	page := newView("gemini://h/", "text/gemini; charset=utf-8", "", entries...).page(t)
	contains(t, page, "<h1>Title &lt;i&gt;</h1>", `<div class="gemtext">
<p>text &lt;script&gt;</p>
<ul>
<li>one</li>
<li>two</li>
</ul>
<h3>Part</h3>
<blockquote>
<p>quote</p>
<p>more</p>
</blockquote>
<pre title="art&#34;"># in the art
&lt;pre&gt;
</pre>
<h4>Small</h4>
<h2>Other</h2>
<p class="link"><a href="/page/gemini://h/moon">Moon &lt;b&gt;</a></p>
<p>end</p>
</div>`)
	page = newView("gemini://h/", gemtextMedia, "", info("```"), info("# in the art")).page(t)
	contains(t, page, "<h1>h</h1>", "<pre># in the art\n</pre>\n</div>")
}

func FuzzGemtext(f *testing.F) {
	f.Add("# a\n* b\n> c\n```d\ne\n```\n### f")
	f.Fuzz(func(t *testing.T, text string) {
		var entries []fetch.Entry
		for line := range strings.SplitSeq(text, "\n") {
			entries = append(entries, info(line))
		}
		page := newView("gemini://h/", gemtextMedia, "", entries...).page(t)
		for _, name := range []string{"ul", "blockquote", "pre", "p", "li"} {
			if strings.Count(page, "<"+name+">")+strings.Count(page, "<"+name+" ") != strings.Count(page, "</"+name+">") {
				t.Errorf("%s is not closed in\n%s", name, page)
			}
		}
	})
}
