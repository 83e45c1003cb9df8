package links

import (
	"io"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

const here = "http://h/d/p?q"

// extracted returns the links of a document, one per line.
func extracted(t testing.TB, retrieved, media string, header fetch.Header, body io.Reader) string {
	t.Helper()
	var b strings.Builder
	for l, err := range Extract(schemeNamed, uri.MustParse(retrieved), media, header, body) {
		if err != nil {
			b.WriteString("error: " + err.Error() + "\n")
			continue
		}
		b.WriteString(l.Kind.String() + " " + l.From + " " + l.URL.Unredacted())
		if l.NoFollow {
			b.WriteString(" nofollow")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestHTML(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"relative", `<a href="x">`, "page a href http://h/d/x\n"},
		{"upper case without quotes", `<A HREF=/x>`, "page a href http://h/x\n"},
		{"another scheme", `<a href="gopher://g/1"><a href=ftp://f/><a href=news:a@b><a href=wais://w/d?x>`,
			"page a href gopher://g/1\npage a href ftp://f/\npage a href news:a@b\npage a href wais://w/d?x\n"},
		{"URL without a target", `<a href="javascript:x()"><a href=" JavaScript:x"><a href=data:,x><img src="data:image/png;base64,AA"><a href=about:blank><a href=#f><a href=""><a href="java&#10;script:x">`, ""},
		{"fragment and userinfo", `<a href="http://u:p@x/a#f">`, "page a href http://x/a\n"},
		{"no host", `<a href="http:x"><a href="http:///x">`, ""},
		{"entities", `<a href="?a=1&amp;b=2&copy=3&#x26;">`, "page a href http://h/d/p?a=1&b=2&copy=3&\n"},
		{"whitespace and line breaks", "<a href='\n a\nb c\t'>", "page a href http://h/d/ab%20c\n"},
		{"backslash", `<a href="a\b?c\d"><a href="\\x\y">`, "page a href http://h/d/a/b?c%5Cd\npage a href http://x/y\n"},
		{"characters not allowed in a URI", `<a href="a|b[c]^%zz%41?{x}#<">`, "page a href http://h/d/a%7Cb%5Bc%5D%5E%25zz%41?%7Bx%7D\n"},
		{"letters", `<a href="http://müller.de/ü?ü">`, "page a href http://xn--mller-kva.de/%C3%BC?%C3%BC\n"},
		{"percent-encoded letters in the host", `<a href="http://m%C3%BCller.de/">`, "page a href http://xn--mller-kva.de/\n"},
		{"bytes of another charset", "<a href=\"/\xfc\">", "page a href http://h/%FC\n"},
		{"area, cite, longdesc", `<area href=a><q cite=b><img src=c longdesc=d>`, "page area href http://h/d/a\npage q cite http://h/d/b\nrequisite img src http://h/d/c\npage img longdesc http://h/d/d\n"},
		{"link", `<link rel=stylesheet href=a><link rel="shortcut icon" href=b><link rel=next href=c><link rel=alternate type="application/rss+xml" href=d><link rel=preconnect href=//e><link rel=sitemap href=f><link href=g>`,
			"requisite link href http://h/d/a\nrequisite link href http://h/d/b\npage link href http://h/d/c\nfeed link href http://h/d/d\nsitemap link href http://h/d/f\npage link href http://h/d/g\n"},
		{"media", `<video src=a poster=b><source src=c srcset="d 1x"><audio src=e><track src=f><embed src=g><object data=h></object><input type=image src=i>`,
			"requisite video src http://h/d/a\nrequisite video poster http://h/d/b\nrequisite source src http://h/d/c\nrequisite source srcset http://h/d/d\nrequisite audio src http://h/d/e\nrequisite track src http://h/d/f\nrequisite embed src http://h/d/g\nframe object data http://h/d/h\nrequisite input src http://h/d/i\n"},
		{"frames", `<frameset><frame src=a><noframes><a href=b></noframes></frameset><iframe src=c><a href=x></iframe>`,
			"frame frame src http://h/d/a\npage a href http://h/d/b\nframe iframe src http://h/d/c\n"},
		{"noscript", `<noscript><img src=a></noscript>`, "requisite img src http://h/d/a\n"},
		{"script, text and comments", `<script src=a>"<a href=x>"</script><textarea><a href=x></textarea><title><a href=x></title><!-- <a href=x> -->`, "requisite script src http://h/d/a\n"},
		{"srcset", `<img srcset="a.png, b.png 2x,c,d 1.5x, data:image/png,x 3x, e (x,y) 2x,,f,">`,
			"requisite img srcset http://h/d/a.png\nrequisite img srcset http://h/d/b.png\nrequisite img srcset http://h/d/c,d\nrequisite img srcset http://h/d/e\nrequisite img srcset http://h/d/f\n"},
		{"lazy images", `<img data-src=a data-srcset="b 2x">`, "requisite img data-src http://h/d/a\nrequisite img data-srcset http://h/d/b\n"},
		{"svg", `<svg><use xlink:href="a#b"/><image href=c /><a xlink:href=d></a></svg>`, "requisite use xlink:href http://h/d/a\nrequisite image href http://h/d/c\npage a xlink:href http://h/d/d\n"},
		{"svg in html", `<svg><title/><script href=a /><style>@import "b"</style></svg><script>"<a href=x>"</script><a href=c><svg><p><title><a href=x></title>`,
			"requisite script href http://h/d/a\nrequisite style @import http://h/d/b\npage a href http://h/d/c\n"},
		{"elements that close themselves", `<style/>@import "a"</style><script src=b /><a href=x></script><a href=c />`, "requisite style @import http://h/d/a\nrequisite script src http://h/d/b\npage a href http://h/d/c\n"},
		{"Shift_JIS", "<a href='\x95\\x.html'>", "page a href http://h/d/%95%5Cx.html\n"},
		{"form", `<form action=a><form action=b method=POST><form method=get action=c>`, "form form action http://h/d/a\nform form action http://h/d/c\n"},
		{"background", `<body background=a><td background=b>`, "requisite body background http://h/d/a\nrequisite td background http://h/d/b\n"},
		{"refresh", `<meta http-equiv=Refresh content="5; URL=a"><meta http-equiv=refresh content="0;url='b c' x"><meta http-equiv=refresh content=3><meta http-equiv=refresh content="0,d">`,
			"page meta content http://h/d/a\npage meta content http://h/d/b%20c\npage meta content http://h/d/d\n"},
		{"preview", `<meta property="og:image" content="a.png"><meta name=description content=x>`, "requisite meta content http://h/d/a.png\n"},
		{"style", `<style>@import "a"; p{background:url( b )}</style><p style="background:url('c')">`, "requisite style @import http://h/d/a\nrequisite style url http://h/d/b\nrequisite p style url http://h/d/c\n"},
		{"nofollow", `<a rel="x NoFollow" href=a><a href=b><meta name=ROBOTS content="index, NoFollow"><a href=c>`, "page a href http://h/d/a nofollow\npage a href http://h/d/b\npage a href http://h/d/c nofollow\n"},
		{"base", `<a href=a><base href=//x/y/><a href=b><a href=#c>`, "page a href http://x/y/a\npage a href http://x/y/b\npage a href http://x/y/\n"},
		{"base without a host", `<base href=http:/x/><a href=a>`, "page a href http://h/d/a\n"},
		{"the first attribute counts", `<a href=a href=b>`, "page a href http://h/d/a\n"},
		{"not whole", `<a href=a><a href="b`, "page a href http://h/d/a\n"},
		{"srcdoc", `<iframe srcdoc="<a href=a>&lt;img src='b'&gt;<iframe srcdoc='<img src=c>'>"></iframe>`,
			"page a href http://h/d/a\nrequisite img src http://h/d/b\nrequisite img src http://h/d/c\n"},
		{"button", `<button formaction=a><button formaction=b formmethod=post><input formaction=c formmethod=GET>`, "form button formaction http://h/d/a\nform input formaction http://h/d/c\n"},
		{"ping", `<a href=a ping="b c">`, "page a href http://h/d/a\npage a ping http://h/d/b\npage a ping http://h/d/c\n"},
		{"param", `<object><param name=movie value=a.swf><param name=wmode value=opaque></object>`, "requisite param value http://h/d/a.swf\n"},
		{"math", `<math href=a><mi href=b>x</mi></math>`, "page math href http://h/d/a\npage mi href http://h/d/b\n"},
		{"model", `<model-viewer src=a.glb poster=b.webp ios-src=c.usdz></model-viewer>`, "requisite model-viewer src http://h/d/a.glb\nrequisite model-viewer poster http://h/d/b.webp\nrequisite model-viewer ios-src http://h/d/c.usdz\n"},
		{"conditional comment", `<!--[if lt IE 9]><script src=a></script><![endif]--><!--[if IE]><![endif]-->`, "requisite script src http://h/d/a\n"},
		{"import map", `<script type=importmap>{"imports":{"a":"./a.js","b/":"/b/","c":"bare"},"scopes":{"/s/":{"a":"/s/a.js"}}}</script>`, "requisite importmap http://h/d/a.js\nrequisite importmap http://h/s/a.js\n"},
		{"module", `<script type=module>import x from "./a.js"; import './b.js'; export * from "../c.js"; const d = import("/d.js"); import e from "bare"</script><script>import "./f.js"</script>`,
			"requisite module import http://h/d/a.js\nrequisite module import http://h/d/b.js\nrequisite module import http://h/c.js\nrequisite module import http://h/d.js\n"},
		{"JSON-LD", `<script type="application/ld+json">{"@id":"#x","url":"/a","image":[{"@type":"ImageObject","url":"b.png"},"c.png"],"name":"d","author":{"url":"http://x/"}}</script>`,
			"page json-ld url http://h/a\nrequisite json-ld url http://h/d/b.png\nrequisite json-ld image http://h/d/c.png\npage json-ld url http://x/\n"},
		{"JSON-LD with a syntax error", `<script type="application/ld+json">{"url":"/a",}{"url":"/b"}</script>`, "page json-ld url http://h/a\n"},
		{"applet", `<applet code=a.class archive="b.jar, c.jar">`, "requisite applet code http://h/d/a.class\nrequisite applet archive http://h/d/b.jar\nrequisite applet archive http://h/d/c.jar\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := extracted(t, here, "text/html; charset=x", nil, strings.NewReader(c.body)); got != c.want {
				t.Errorf("%s\ngot\n%s\nwant\n%s", c.body, got, c.want)
			}
		})
	}
}

func TestCSS(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"kinds", `@import "a"; @import url(b) screen; p { background: url("c") } @font-face { src: url('d') format("x") }`, "a b c d"},
		{"comments", `/* url(x) */ p{a:url(/*a)} /`, "/*a"},
		{"unclosed url()", `p{a:url(a`, "a"},
		{"string not closed", `p{a:url("a`, "a"},
		{"bad string", "p{a:url(\"x\n)} q{a:url(b)}", "b"},
		{"bad url", `p{a:url(x y)} q{a:url(x"y)} r{a:url(b)}`, "b"},
		{"escapes", `p{a:u\72 l(a\)b);b:url("\63\0000642 \
")}`, "a)b cd2"},
		{"case", `@IMPORT 'a'; p{a:URL(b)}`, "a b"},
		{"names that end so", `p{a:xurl(x);b:1url(x);c:#url(x);d:-url(x)}`, ""},
		{"namespaces, documents, charset", `@charset "x"; @namespace a url(x); @namespace "x"; @document url(x), url-prefix("x") { p{a:url(b)} }`, "b"},
		{"image-set", `p{a:image-set("a" 1x, url(b) 2x, "c" type("x/y"));content:"x"}`, "a b c"},
		{"string after an image-set", `p{a:image-set("a"), local("x"), "x"}`, "a"},
		{"strings", `p{content:"url(x)"; quotes:'"' "'"; a:url(b)}`, "b"},
		{"data and fragments", `p{a:url(data:image/png,x);b:url(#x)}`, ""},
		{"url of an import is no string", `@import url("a") layer("x"); @import "b"`, "a b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, line := range strings.Fields(extracted(t, "http://h/", "text/css", nil, strings.NewReader(c.body))) {
				if u, ok := strings.CutPrefix(line, "http://h/"); ok {
					got = append(got, u)
				}
			}
			want := strings.TrimPrefix(c.want, "/")
			if strings.Join(got, " ") != want {
				t.Errorf("%s\ngot  %q\nwant %q", c.body, got, want)
			}
		})
	}
}

// TestRewrite replaces links to the host h by L and their path.
func TestRewrite(t *testing.T) {
	for _, c := range []struct{ name, media, in, want string }{
		{"html", "text/html", `<!doctype html><A  HREF = "x?a&amp;b#f" title='y'>&nbsp;<img src=i.png srcset="i.png 1x, j.png 2x"/><a href=#z>`,
			`<!doctype html><A  HREF = "L/d/x?a&amp;b#f" title='y'>&nbsp;<img src="L/d/i.png" srcset="L/d/i.png 1x, L/d/j.png 2x"/><a href=#z>`},
		{"quotes", "text/html", `<a href='a"'>`, `<a href='L/d/a%22'>`},
		{"base", "text/html", `<base href="//x/y/"><a href=z><a href=http://keep/><a href=#k>`, `<base href=""><a href="http://x/y/z"><a href=http://keep/><a href="http://x/y/#k">`},
		{"base and empty references", "text/html", `<base href="/x/"><a href="">a</a><img src=""><form action="">`, `<base href=""><a href="L/x/">a</a><img src=""><form action="">`},
		{"empty reference without a base", "text/html", `<a href="">a</a>`, `<a href="">a</a>`},
		{"forms of every method", "text/html", `<form action=/a method=post><button formaction=/b formmethod=post></button></form><form action=/c>`,
			`<form action="L/a" method=post><button formaction="L/b" formmethod=post></button></form><form action="L/c">`},
		{"base of its own", "text/html", `<base href="http://h/d/p?q"><a href=z><a href=#k>`, `<base href=""><a href="L/d/z"><a href=#k>`},
		{"css", "text/css", `@import 'a';p{b:url( c );d:url("e#f")}/* url(x) */`, `@import 'L/d/a';p{b:url( L/d/c );d:url("L/d/e#f")}/* url(x) */`},
		{"styles", "text/html", `<style>p{a:url(b)}</style><p style="a:url(&quot;c&quot;)">`, `<style>p{a:url(L/d/b)}</style><p style="a:url(&quot;L/d/c&quot;)">`},
		{"refresh", "text/html", `<meta http-equiv=refresh content="0; url=a">`, `<meta http-equiv="refresh" content="0; url=L/d/a">`},
		{"svg", "image/svg+xml", `<?xml version="1.0"?><?xml-stylesheet href="s" type="x"?><svg><title><a href="b"/></title></svg>`, `<?xml version="1.0"?><?xml-stylesheet href="L/d/s" type="x"?><svg><title><a href="L/d/b"/></title></svg>`},
		{"lists", "text/html", "<img srcset='a, b,\x01 1x'><applet archive='a\x01,b'>", "<img srcset='L/d/a, L/d/b%2C 1x'><applet archive='L/d/a,L/d/b'>"},
		{"refresh with quotes", "text/html", `<meta http-equiv=refresh content="0; url='a">`, `<meta http-equiv="refresh" content="0; url='L/d/a">`},
		{"base without a value", "text/html", `<base href><a href=x>`, `<base href=""><a href="L/d/x">`},
		{"integrity", "text/html", `<link rel=stylesheet integrity="sha256-x" href=a CrossOrigin><script src=//o/ integrity=y>`, `<link rel="stylesheet" data-integrity="sha256-x" href="L/d/a" data-crossorigin=""><script src="//o/" integrity="y">`},
		{"connection hints", "text/html", `<link rel=preconnect href=//o><link href="//o" rel="x DNS-Prefetch"><link rel=help href=a>`,
			`<link rel="preconnect" href=""><link href="" rel="x DNS-Prefetch"><link rel="help" href="L/d/a">`},
		{"connection hint with a prefix", "application/xhtml+xml", `<h:link rel="preconnect" href="//o"/>`, `<h:link rel="preconnect" href=""/>`},
		{"links that browsers read differently", "text/html", `<a href="https:x"><a href="http:///x"><a href="///x"><area href='//a"b/'><a href="#x"><a href="javascript:x"><a href="mailto:x">`,
			`<a href=""><a href=""><a href=""><area href=''><a href="#x"><a href="javascript:x"><a href="mailto:x">`},
		{"animated link", "text/html", `<svg><a><set attributeName=xlink:href to=//x><animate attributeName="href" values="//x"><set attributeName=fill to=red></a></svg>`,
			`<svg><a><set data-attributeName=xlink:href to=//x><animate data-attributeName="href" values="//x"><set attributeName=fill to=red></a></svg>`},
		{"template that browsers read as elements", "text/html", `<noembed><script type=text/template></noembed><a href=//h/o></a></script><svg><title><p></title><script type=text/x><p><a href=x>`,
			`<noembed><script type="text/template"></noembed><a href="L/o"></a></script><svg><title><p></title><script type="text/x"><p><a href="L/d/x">`},
		{"XLink with another prefix", "image/svg+xml", `<svg xmlns:q="http://www.w3.org/1999/xlink"><a q:href="x"/></svg>`,
			`<svg xmlns:q="http://www.w3.org/1999/xlink"><a q:href="L/d/x"/></svg>`},
		{"animated link with an entity", "image/svg+xml", `<a><set attributeName="h&e;" to="//x"/></a>`, `<a><set data-attributeName="h&e;" to="//x"/></a>`},
		{"attributes in two cases", "application/xhtml+xml", `<a HREF="#" href='//o' id="i" Id/><embed SRC="x" src="//o"/><object DATA="x" data="//o" Data="//p"/>`,
			`<a HREF="#"  id="i" /><embed SRC="L/d/x" /><object DATA="L/d/x"  />`},
		{"letters that fold to s and k", "text/html", "<embed \u017frc=a src=b><svg><a xlin\u212a:href=a XLINK:href=b></a></svg>",
			"<embed \u017frc=a src=\"L/d/b\"><svg><a xlin\u212a:href=\"L/d/a\" XLINK:href=\"L/d/b\"></a></svg>"},
		{"text", "text/plain", `<a href=x>`, `<a href=x>`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			err := Rewrite(&b, schemeNamed, uri.MustParse(here), c.media, nil, strings.NewReader(c.in), func(l Link) string {
				if l.URL.Host() != "h" {
					return ""
				}
				_, after, _ := strings.Cut(l.URL.Unredacted(), "//h")
				return "L" + after
			})
			if err != nil || b.String() != c.want {
				t.Errorf("%v\ngot  %s\nwant %s", err, b.String(), c.want)
			}
		})
	}
}

// TestHarmfulReplacement verifies that a replacement cannot end the string, the
// attribute or the element that contains it.
func TestHarmfulReplacement(t *testing.T) {
	const bad = `</style>"'\)&lt;` + "\n"
	for _, c := range []struct{ in, want string }{
		{`<style>a{b:url(x)}</style>`, `<style>a{b:url("\3c /style>\"'\\)&lt;\0a ")}</style>`},
		{`<style>@import 'x'</style>`, `<style>@import '\3c /style>"\'\\)&lt;\0a '</style>`},
		{`<a href=x>`, `<a href="&lt;/style>&quot;'\)&amp;lt;` + "\n" + `">`},
		{`<a href='x'>`, `<a href='&lt;/style>"&#39;\)&amp;lt;` + "\n" + `'>`},
		{`<p style='a:url("x")'>`, `<p style='a:url("\3c /style>\"&#39;\\)&amp;lt;\0a ")'>`},
	} {
		var b strings.Builder
		err := Rewrite(&b, schemeNamed, uri.MustParse(here), "text/html", nil, strings.NewReader(c.in), func(Link) string { return bad })
		if err != nil || b.String() != c.want {
			t.Errorf("%v\ngot  %s\nwant %s", err, b.String(), c.want)
		}
	}
}
