package gateway

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/browsertest"
)

// long is a text that is longer than the largest token which the server
// rewrites.
var long = strings.Repeat("A", 300<<10)

// connectingPages are pages that make a browser connect to another server. LINK
// stands for a preconnect element, and HOST for the address of the server. The
// first field describes what is unusual about the page. The field media may
// contain further header fields.
var connectingPages = []struct{ name, media, body string }{
	{"plain", "", "LINK"},
	{"several relations", "", "<link href=http://HOST rel='help\tPreConnect'>"},
	{"long attribute before", "", "<link title='" + long + "' rel=preconnect href=http://HOST>"},
	{"long attribute behind", "", "<link rel=preconnect href=http://HOST title='" + long + "'>"},
	{"long unquoted attribute", "", "<link title=" + long + " rel=preconnect href=http://HOST>"},
	{"long attribute name", "", "<link " + long + " rel=preconnect href=http://HOST>"},
	{"long attribute of another element", "", "<img alt='" + long + "' title=\">LINK<p title='\">"},
	{"long attribute ends in a comment", "", "<img alt='" + long + "' title='<!--'>LINK<p title='-->'>"},
	{"long end tag", "", "</p title='" + long + "' lang='<!--'>LINK<p title='-->'>"},
	{"long comment", "", "<!--" + long + "--!>LINK<!-- -->"},
	{"long script element", "", "<script data-x='" + long + "' title='</script>LINK'></script>LINK"},
	{"text after a script", "", "<script></script>" + long + "LINK"},
	{"SVG title", "", "<svg><p></p></svg><svg><title><b></b>LINK</title></svg>"},
	{"SVG foreignObject", "", "<svg><foreignObject><div></div></foreignObject><title><b></b>LINK</title></svg>"},
	{"SVG desc", "", "<svg><desc><title><!--</title>LINK--></desc></svg>"},
	{"SVG title as HTML", "", "<svg><title><textarea><!--</textarea>LINK--></title></svg>"},
	{"SVG style", "", "<svg><p></p></svg><svg><desc></desc><span></span></svg><math><style><b></b>LINK</style></math>"},
	{"SVG script", "", "<math><script><b></b>LINK</script></math>"},
	{"SVG CDATA", "", "<svg><![CDATA[><!--]]><desc>LINK--></desc></svg>"},
	{"SVG CDATA in an attribute", "", "<svg><![CDATA[<p title=\"]]><desc>LINK\"></desc></svg>"},
	{"MathML title", "", "<math><title><b></b>LINK</title></math>"},
	{"MathML textarea", "", "<math><textarea><b></b>LINK</textarea></math>"},
	{"MathML iframe", "", "<math><iframe><b></b>LINK</iframe></math>"},
	{"MathML xmp", "", "<math><xmp><b></b>LINK</xmp></math>"},
	{"MathML plaintext", "", "<math><plaintext><b></b>LINK"},
	{"MathML annotation", "", "<math><annotation-xml encoding=text/html><svg><style><b></b>LINK</style></svg></annotation-xml></math>"},
	{"MathML mtext", "", "<math><mtext><table><mglyph><style><!--</style>LINK--></style></mglyph></table></mtext></math>"},
	{"select", "", "<select><title>LINK</title></select>"},
	{"select with plaintext", "", "<select><plaintext>LINK"},
	{"frameset", "", "<frameset><title><noframes></title></noframes><style></frameset><noframes>LINK</noframes></style>"},
	{"noscript in the head", "", "<head><noscript><style><!--</style>LINK--></noscript>"},
	{"noscript with a comment", "", "<noscript><!--</noscript>LINK--></noscript>"},
	{"noscript with an attribute", "", "<noscript><p title='</noscript>LINK'></noscript>"},
	{"noembed with an attribute", "", "<noembed><p title='</noembed>LINK'></noembed>"},
	{"noframes with a comment", "", "<noframes><!--</noframes>LINK--></noframes>"},
	{"template", "", "<div><template shadowrootmode=open><title></title>LINK</template></div>"},
	{"table", "", "<table><colgroup><title><b></title>LINK</table>"},
	{"comment ends with --!>", "", "<!-- --!>LINK<!-- -->"},
	{"comment ends at once", "", "<!-->LINK<!---->"},
	{"comment ends at once with a hyphen", "", "<!--->LINK<!---->"},
	{"declaration", "", "<!x '>LINK<p title='>"},
	{"conditional comment", "", "<!--[if IE]><p title='--><link rel=preconnect href=http://HOST><![endif]-->"},
	{"escaped script", "", "<script><!--<script></script>--></script>LINK"},
	{"end of the file in a tag", "", "LINK<link rel=preconnect href=http://HOST "},
	{"srcdoc", "", "<iframe srcdoc='LINK'></iframe>"},
	{"srcdoc with another quote", "", "<iframe srcdoc=\"<svg><p></p></svg><math><title><b></b>LINK</title></math>\"></iframe>"},
	{"nested srcdoc", "", nestedFrames(6)},
	{"long srcdoc", "", "<iframe srcdoc='" + long + "LINK'></iframe>"},
	{"second attribute", "", "<iframe srcdoc='LINK' srcdoc=''></iframe>"},
	{"data URL in a frame", "", "<iframe src='data:text/html,LINK'></iframe>"},
	{"data URL in an object", "", "<object data='data:text/html,LINK'></object>"},
	{"data URL in embed", "", "<embed src='data:text/html,LINK' type=text/html>"},
	{"data URL in a frameset", "", "<frameset><frame src='data:text/html,LINK'></frameset>"},
	{"base", "", "<base href=http://HOST/><link rel=preconnect href=/>"},
	{"refresh", "", "<meta http-equiv=refresh content='0 ;,URL = http://HOST/'>"},
	{"image in data URL", "", "<img src=\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'><h:link xmlns:h='http://www.w3.org/1999/xhtml' rel='preconnect' href='http://HOST'/></svg>\">LINK"},
	{"policy with a report", "", "<meta http-equiv=Content-Security-Policy content='img-src http://HOST; report-uri http://HOST/'><img src=http://HOST/x>"},
	{"attribution", "", "<img src=x attributionsrc=http://HOST/><img src=http://HOST/>"},
	{"prefetch", "", "<link rel=prefetch href=http://HOST/><link rel=prerender href=http://HOST/>"},
	{"preload", "", "<link rel=preload as=image imagesrcset='http://HOST/ 1x' href=http://HOST/x>"},
	{"speculation rules", "", `<script type=speculationrules>{"prefetch":[{"source":"list","urls":["http://HOST/"],"eagerness":"immediate"}],"prerender":[{"source":"list","urls":["http://HOST/"],"eagerness":"immediate"}]}</script>LINK`},
	{"Link field", "text/html\r\nLink: <http://HOST/>; rel=preconnect, <http://HOST/x>; rel=preload; as=image", "text"},
	{"Refresh field", "text/html\r\nRefresh: 0; url=http://HOST/", "text"},
	{"report fields", "text/html\r\nContent-Security-Policy: img-src 'none'; report-uri http://HOST/\r\nReporting-Endpoints: a=\"http://HOST/\"\r\nSpeculation-Rules: \"http://HOST/\"", "<img src=http://HOST/>"},
	{"two media types", "image/png, text/html", "LINK"},
	{"another name of HTML", "TEXT/HTML ;x", "LINK"},
	{"late charset ISO-2022-JP", "", strings.Repeat(" ", 1100) + "<meta charset=iso-2022-jp><link title=\"\x1b$B\" lang='\x1b(B\" rel=preconnect href=http://HOST '>LINK"},
	{"late charset ISO-2022-JP after a charset in text", "", "<\xe9meta charset=iso-2022-jp>" + strings.Repeat(" ", 1100) +
		"<meta charset=iso-2022-jp><link title='\x1b$B'>\x1b(B\" rel=preconnect href=http://HOST >"},
	{"NUL after the name of an element", "", "<link\x00 rel=preconnect href=http://HOST>"},
	{"escape character after the name of an element", "", "<link\x1brel=preconnect href=http://HOST>"},
	{"escape character in a frame", "", "<iframe srcdoc='<link&#27; rel=preconnect href=http://HOST>'></iframe>"},
	{"refresh with an escape character", "", "<meta\x1bhttp-equiv=refresh content='0;url=http://HOST/'>"},
	{"XHTML", "application/xhtml+xml", xhtml + "<title>XLINK</title></html>"},
	{"XHTML script", "application/xhtml+xml", xhtml + "<script>XLINK</script></html>"},
	{"XHTML with another prefix", "application/xhtml+xml", "<x xmlns:ü='http://www.w3.org/1999/xhtml'><title><ü:link rel='preconnect' href='http://HOST'/></title></x>"},
	{"XHTML CDATA", "application/xhtml+xml", xhtml + "<p><![CDATA[><!--]]></p>XLINK<!-- --></html>"},
	{"XHTML attributes in two cases", "application/xhtml+xml", xhtml + "<link REL='help' rel='preconnect' HREF='' href='http://HOST'/></html>"},
	{"XHTML attributes of embed in two cases", "application/xhtml+xml", xhtml + "<embed SRC='x' src='http://HOST/'/></html>"},
	{"XHTML attributes of object in two cases", "application/xhtml+xml", xhtml + "<object DATA='x' data='http://HOST/'/></html>"},
	{"XHTML entity", "application/xhtml+xml", "<!DOCTYPE html [<!ENTITY e \"XLINK\">]>" + xhtml + "&e;</html>"},
	{"XHTML entity in an attribute", "application/xhtml+xml", "<!DOCTYPE html [<!ENTITY e \"preconnect\">]>" + xhtml + "<link rel='&e;' href='http://HOST'/></html>"},
	{"XHTML default attribute", "application/xhtml+xml", "<!DOCTYPE html [<!ATTLIST link rel CDATA \"preconnect\" href CDATA \"http://HOST\">]>" + xhtml + "<link/></html>"},
	{"XHTML instruction", "application/xhtml+xml", xhtml + "<?x ><!-- ?>XLINK<!-- --></html>"},
	{"SVG document", "image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'><title>XLINK</title></svg>"},
	{"XSLT", "application/xhtml+xml", "<?xml-stylesheet type='text/xsl' href='#s'?><html xmlns='http://www.w3.org/1999/xhtml'>" +
		"<xsl:stylesheet id='s' version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'><xsl:template match='/'><html><xsl:element name='link'>" +
		"<xsl:attribute name='rel'>preconnect</xsl:attribute><xsl:attribute name='href'>http://HOST</xsl:attribute></xsl:element></html></xsl:template></xsl:stylesheet></html>"},
	{"srcdoc with a namespace prefix", "application/xhtml+xml", prefixed + "<h:iframe srcdoc='&lt;link rel=preconnect href=http://HOST>'/></html>"},
	{"frame with a namespace prefix", "application/xhtml+xml", prefixed + "<h:iframe src='http://HOST/'/></html>"},
	{"object with a codebase", "", "<object codebase=x type=text/html data=http://HOST/></object>"},
	{"frame with a long URL", "", "<iframe src=http://HOST/" + long[:80<<10] + "></iframe>"},
	{"embed with a long URL", "", "<embed src=http://HOST/" + long[:80<<10] + ">"},
	{"attribute with a letter that folds to s", "", "<embed \u017frc=x src=http://HOST/>"},
	{"embed with a long attribute", "", "<embed title='" + long + "' src=http://HOST/>"},
	{"object with a long attribute", "", "<object title='" + long + "' data=http://HOST/></object>"},
	{"frame with a long attribute", "", "<frameset><frame title='" + long + "' src=http://HOST/></frameset>"},
	{"UTF-16LE without a byte order mark", "text/html", "WIDE<?xml version='1.0'?>LINK"},
	{"UTF-16LE, two charsets", "text/html; charset=utf-16le; charset=utf-8", "WIDELINK"},
	{"UTF-16LE with the start of an instruction", "text/html; charset=utf-8", "<\x00?\x00x <link rel=preconnect href=http://HOST >"},
	{"UTF-16BE with the start of an instruction", "text/html", "\x00<\x00?x <link rel=preconnect href=http://HOST >"},
	{"UTF-16LE after a malformed parameter", "text/html; x; =; charset=utf-16le", "WIDELINK"},
	{"DOCTYPE with > in its system identifier", "application/xhtml+xml", "<!DOCTYPE html SYSTEM 'a>b' [<!ATTLIST link rel CDATA 'preconnect' href CDATA 'http://HOST'>]>" + xhtml + "<link/></html>"},
	{"DOCTYPE with >[ in its system identifier", "application/xhtml+xml", "<!DOCTYPE html SYSTEM '>[' [<!ATTLIST link rel CDATA 'preconnect' href CDATA 'http://HOST'>]>" + xhtml + "<link/></html>"},
}

const (
	xhtml    = "<html xmlns='http://www.w3.org/1999/xhtml'>"
	prefixed = "<html xmlns='http://www.w3.org/1999/xhtml' xmlns:h='http://www.w3.org/1999/xhtml'>"
)

// nestedFrames returns a page with a preconnect element in n nested srcdoc
// attributes.
func nestedFrames(n int) string {
	text := "LINK"
	for range n {
		text = `<iframe srcdoc="` + strings.NewReplacer("&", "&amp;", `"`, "&quot;").Replace(text) + `"></iframe>`
	}
	return text
}

// expandLinks replaces the names in a page of connectingPages. A page that starts
// with WIDE is encoded in UTF-16LE.
func expandLinks(body, host string) string {
	if rest, ok := strings.CutPrefix(body, "WIDE"); ok {
		return wide(expandLinks(rest, host))
	}
	return strings.NewReplacer("XLINK", "<h:link xmlns:h='http://www.w3.org/1999/xhtml' rel='preconnect' href='http://"+host+"'/>",
		"LINK", "<link rel=preconnect href=http://"+host+">", "HOST", host).Replace(body)
}

// A listenerSet counts the connections to several listeners.
type listenerSet struct {
	addrs []string
	seen  journal
}

// listen adds n listeners that close each connection.
func (s *listenerSet) listen(t *testing.T, n int) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		addr := l.Addr().String()
		s.addrs = append(s.addrs, addr)
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				s.seen.add(addr)
				c.Close()
			}
		}()
	}
}

// TestNoConnection opens pages that make a browser connect to another server, as
// captures of an archive and as live pages. The control is a server that sends
// the same pages unchanged.
func TestNoConnection(t *testing.T) {
	t.Parallel()
	var outside listenerSet
	outside.listen(t, len(connectingPages)+1)
	last := outside.addrs[len(connectingPages)]
	pages := http.NewServeMux()
	captures := []sample{{"20240101", "http://attack.example/last", "", ok("text/html", "<p id=last>")}}
	for i, c := range connectingPages {
		kind := c.media
		if kind == "" {
			kind = "text/html"
		}
		body := expandLinks(c.body, outside.addrs[i])
		head := strings.ReplaceAll(kind, "HOST", outside.addrs[i])
		captures = append(captures, sample{"20240101", fmt.Sprintf("http://attack.example/%d", i), "", ok(head, body)})
		pages.HandleFunc(fmt.Sprintf("/%d", i), func(w http.ResponseWriter, r *http.Request) {
			for n, line := range strings.Split("Content-Type: "+head, "\r\n") {
				name, value, _ := strings.Cut(line, ": ")
				if w.Header().Set(name, value); name == "Link" && n > 0 {
					w.WriteHeader(http.StatusEarlyHints)
				}
			}
			fmt.Fprint(w, body)
		})
	}
	open := httptest.NewServer(pages)
	defer open.Close()
	openAddr := strings.TrimPrefix(open.URL, "http://")
	v := startVictim(t, openAddr, func(o *Options) { o.Archives = []Archive{{Name: "a", Source: openSample(t, captures...)}} })
	b := browsertest.Start(t, append(outside.addrs, openAddr, v.address)...)

	control := "data:text/html,<link rel=preconnect href=http://" + last + ">"
	for _, base := range []string{"/archive/a/2024mp_/http://attack.example/", "/live/http://" + hostileHost + "/"} {
		p := b.Open("about:blank")
		outside.seen.clear()
		for i := range connectingPages {
			p.Show(v.base + base + fmt.Sprint(i))
		}
		p.Go(control) // the connections of earlier pages come before that of this page
		waitUntil(t, func() bool { return len(outside.seen.find(last)) > 0 })
		for i, c := range connectingPages {
			if n := len(outside.seen.find(outside.addrs[i])); n > 0 {
				t.Errorf("%s: %s: %d connections", base, c.name, n)
			}
		}
	}

	p := b.Open("about:blank")
	outside.seen.clear()
	for i := range connectingPages {
		p.Show(open.URL + fmt.Sprintf("/%d", i))
	}
	p.Go(control)
	waitUntil(t, func() bool { return len(outside.seen.find(last)) > 0 })
	reached := 0
	for i, c := range connectingPages {
		if len(outside.seen.find(outside.addrs[i])) > 0 {
			reached++
		} else {
			t.Logf("control: no connection: %s", c.name)
		}
	}
	if reached < 40 {
		t.Errorf("control: only %d of %d pages cause connections", reached, len(connectingPages))
	}
}
