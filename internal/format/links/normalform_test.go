package links

import (
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/short"
	"github.com/anyurl/fetch/uri"
)

// TestNormalForm checks the form in which Rewrite writes constructs that browsers
// could read differently.
func TestNormalForm(t *testing.T) {
	const svg, page = "image/svg+xml", "text/html"
	for _, c := range []struct{ name, media, in, want string }{
		{"text", page, "a < b <3 &lt; c > d", "a < b <3 &lt; c > d"},
		{"attribute", page, `<p title='<b>' lang=<i>`, `<p title='&lt;b>' lang=&lt;i>`},
		{"end tag with attributes", page, `</p title="<b>"></A >`, `</p></A>`},
		{"incomplete tag", page, `<p>a<b title="`, `<p>a`},
		{"title", page, `<title>a<b>&amp;</title>`, `<title>a&lt;b>&amp;</title>`},
		{"comment", page, `<!-- <b> --><!x <b><? <b>`, `<!-- &lt;b> --><!x &lt;b><? &lt;b>`},
		{"declaration", page, `<!DOCTYPE html [<b>]>x`, `<!DOCTYPE html [&lt;b>]>x`},
		{"script", page, "<script>i<n; '<a>'; /<b/; i<this.x; i<newer; i<3; i<_x</script>",
			`<script>i<\u006e; '<\u0061>'; /<\u0062/; i<this.x; i<\u006eewer; i<3; i<_x</script>`},
		{"end tag in a comment of a script", page, `<script><!--<script></script>--></script>`, `<script><!--<\u0073cript><\/script>--></script>`},
		{"JSON", page, `<script type="application/json">"<b>"</script>`, `<script type="application/json">"<\u0062>"</script>`},
		{"template", page, `<script type="text/template"><p title='<b>'><link rel=preconnect href=//o>{{x}}</script>`,
			`<script type="text/template"><p title='&lt;b>'><link rel="preconnect" href="">{{x}}</script>`},
		{"speculation rules", page, `<script type=SpeculationRules>{}</script>`, `<script type="data-SpeculationRules">{}</script>`},
		{"style", page, `<style>@media (1px<width){a::before{content:"<b>"}}</style>`, `<style>@media (1px<\77 idth){a::before{content:"<\62 >"}}</style>`},
		{"xmp", page, "<xmp class=x>\n<b>&amp;</xmp>", "<pre class=x>\n\n&lt;b&gt;&amp;amp;</pre>"},
		{"plain text", page, "<PLAINTEXT><b></plaintext>", "<pre>\n&lt;b&gt;&lt;/plaintext&gt;"},
		{"names that are no names", page, `<link "x"=y rel=help a<b=c =d rel=next>`, `<link rel="help">`},
		{"prefetch of another scheme", page, `<link rel=prefetch href="nosuch:x"><link rel=preload href="data:x">`, `<link rel="prefetch" href=""><link rel="preload" href="">`},
		{"refresh that is not understood", page, `<meta http-equiv=refresh content="5"><meta http-equiv=refresh content="0;url=javascript:x">`,
			`<meta http-equiv="refresh" content="5"><meta http-equiv="refresh" content="">`},
		{"frames and refresh with a base", page, "<base href=//o/><iframe src=x></iframe><embed src='y'><object data='z'></object><link rel=prefetch href=x><meta http-equiv=refresh content='0;url=x'><a href='x'>",
			`<base href=""><iframe src=""></iframe><embed src=''><object data=''></object><link rel="prefetch" href=""><meta http-equiv="refresh" content=""><a href='http://o/x'>`},
		{"escape character", page, "a\x1b$B<p title='\x1b'>", "a $B<p title=' '>"},
		{"control characters after names", page, "<link\x00 rel=preconnect href=//o><link\x1brel=preconnect href=//o><base\x1b href=//o><iframe\x00 src='nosuch:x'></iframe><meta\x1b http-equiv=refresh content='0;url=nosuch:x'>",
			`<link rel="preconnect" href=""><link rel="preconnect" href=""><base href=""><iframe src=""></iframe><meta http-equiv="refresh" content="">`},
		{"control characters before names", page, "<a \x1bhref=https:x><embed \x00src=nosuch:x>", `<a  href=""><embed  src="">`},
		{"control characters in a frame", page, "<iframe srcdoc='<link&#27; rel=preconnect href=//o><link&#0; rel=preconnect href=//o>'>",
			`<iframe srcdoc="&lt;link&#27; rel=preconnect href=//o>&lt;link` + "\ufffd" + ` rel=preconnect href=//o>">`},
		{"escape character after a charset in text", page, "<\xe9meta charset=iso-2022-jp>\x1b$B<link title='&#27;$B'>",
			"<\xe9meta charset=iso-2022-jp> $B<link title=\"&#27;$B\">"},
		{"escape character after a charset in another element", page, "<m\xe9eta charset=iso-2022-jp>\x1b$B", "<m\xe9eta charset=iso-2022-jp> $B"},
		{"escape character in ISO-2022-JP", page, "<meta charset=iso-2022-jp>\x1b$B", "<meta charset=\"iso-2022-jp\">\x1b$B"},
		{"XML text", svg, `<svg><title>a<ü/></title></svg>`, `<svg><title>a&lt;ü/></title></svg>`},
		{"frame that is not understood", page, "<iframe src='nosuch:x'></iframe><object codebase=x data=//o></object><embed src='nosuch:x'><iframe src='data:x'>",
			`<iframe src=""></iframe><object codebase=x data=""></object><embed src=''><iframe src="data:x">`},
		{"frame with a namespace prefix", svg, `<svg><h:iframe srcdoc='&lt;link rel=preconnect href=//o>' src="nosuch:x"/></svg>`,
			`<svg><h:iframe srcdoc="&lt;link rel=&quot;preconnect&quot; href=&quot;&quot;>" src=""/></svg>`},
		{"> before a subset", svg, `<!DOCTYPE x SYSTEM 'a>b' [<!ATTLIST link rel CDATA 'x'><!ENTITY e '&#60;'>]><x/>`, `<!DOCTYPE x SYSTEM 'a>b' []><x/>`},
		{"NUL", page, "a<\x00b<p title='\x00'>", "a< b<p title=' '>"},
		{"UTF-16 without a byte order mark", page, "<\x00?\x00<\x00a\x00>\x00", "\xff\xfe<\x00?\x00&\x00l\x00t\x00;\x00a\x00>\x00"},
		{"CDATA in HTML", page, `<svg><script><![CDATA[a<b>c]]></script></svg>`, `<svg><script>a&lt;b&gt;c</script></svg>`},
		{"CDATA", svg, `<svg><style><![CDATA[a>b{c:"<d>&"}]]></style></svg>`, `<svg><style>a&gt;b{c:"&lt;d&gt;&amp;"}</style></svg>`},
		{"entities", svg, "<!DOCTYPE svg PUBLIC 'x' [\n<!ENTITY a 'http://x/'>\n<!ENTITY b '<b/>'> <!ENTITY c '&#60;'>%d;<!ATTLIST x y CDATA 'z'>\n]>\n<svg xmlns='&a;'>",
			"<!DOCTYPE svg PUBLIC 'x' [<!ENTITY a 'http://x/'>]>\n<svg xmlns='&a;'>"},
		{"entities with names of HTML", svg, "<!DOCTYPE svg [<!ENTITY num 'http://o/'><!ENTITY lt.x 'y'><!ENTITY nbsp '\u00a0'><!ENTITY numx 'z'>]><svg/>",
			"<!DOCTYPE svg [<!ENTITY nbsp '\u00a0'><!ENTITY numx 'z'>]><svg/>"},
		{"empty subset", svg, "<!DOCTYPE svg []><svg/>", "<!DOCTYPE svg []><svg/>"},
		{"transformation", svg, `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="#x"?><?xml-stylesheet TYPE="text/css" type="text/&#120;sl" href="#x"?><?xml-stylesheet href="a.css"?><svg/>`,
			`<?xml version="1.0"?><?xml-stylesheet href="a.css"?><svg/>`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			err := Rewrite(&out, schemeNamed, uri.MustParse(here), c.media, nil, strings.NewReader(c.in), func(Link) string { return "" })
			if err != nil || out.String() != c.want {
				t.Errorf("%v\ngot  %s\nwant %s", err, out.String(), c.want)
			}
		})
	}
}

// TestLongFrame verifies that Rewrite leaves out an element that displays another
// document if its tag is too long to be read.
func TestLongFrame(t *testing.T) {
	long := strings.Repeat("x", maxToken)
	for _, element := range []string{"embed", "object", "frame", "iframe", "FRAME"} {
		in := "a<" + element + " title='" + long + "' src=//o data=//o>b"
		var out strings.Builder
		err := Rewrite(&out, schemeNamed, uri.MustParse(here), "text/html", nil, strings.NewReader(in), func(Link) string { return "" })
		if got := strings.Replace(out.String(), `<iframe type="text/plain">`, "", 1); err != nil || got != "ab" {
			t.Errorf("%s: %v, %.80q", element, err, got)
		}
	}
}

// TestRewriteMemory verifies that the memory use of Rewrite does not depend on
// the size of a document.
func TestRewriteMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("reads large pages")
	}
	for name, c := range hugeDocuments(8 << 20) {
		t.Run(name, func(t *testing.T) {
			short.Sample(t, 6)
			peak := uint64(0)
			watch := &watchedReader{r: c.body, see: func() {
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapAlloc)
			}}
			err := Rewrite(io.Discard, schemeNamed, uri.MustParse(here), c.media, nil, watch, func(Link) string { return "" })
			if err != nil || peak > 16<<20 {
				t.Errorf("%v, %d KiB of memory in use", err, peak>>10)
			}
		})
	}
}
