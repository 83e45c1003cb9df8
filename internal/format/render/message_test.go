package render

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// TestMessage checks the pages of articles and messages.
func TestMessage(t *testing.T) {
	for name, c := range map[string]struct {
		url, text string
		want      []string
	}{
		"encoded header": {"news://h/2@h", "From: =?utf-8?q?J=C3=B6rg?= <j@h>\nSubject: =?iso-8859-1?q?caf=E9?= <b>\n\ntext", []string{
			"<h1>café &lt;b&gt;</h1>", "Jörg &lt;j@h&gt;", "<pre>text</pre>"}},
		"references and groups": {"news://h/2@h", "References: <0@h> <1@h>\nNewsgroups: a.b,c.d\n\n", []string{
			`<a href="/page/news://h/0@h">&lt;0@h&gt;</a> <a href="/page/news://h/1@h">`, `<a href="/page/news://h/c.d">c.d</a>`}},
		"reply to a message": {"imap://h/INBOX/;UID=2", "In-Reply-To: <1@h>\n\n", []string{`<a href="/page/mid:1@h">&lt;1@h&gt;</a>`}},
		"links in the text": {"news:2@h", "\nSee gopher://h/1/a, http://h/b?c=1&d. (news:1@h) javascript://x/%0aalert(1)\n", []string{
			`<a href="/page/gopher://h/1/a">gopher://h/1/a</a>,`, `<a href="/page/http://h/b?c=1&amp;d">http://h/b?c=1&amp;d</a>.`,
			`(<a href="/page/news:1@h">news:1@h</a>)`, "!/page/javascript"}},
		"quoted text": {"news:2@h", "\n> old <i>\n> older http://h/\nnew\n", []string{
			"<span class=\"quote\">&gt; old &lt;i&gt;\n&gt; older http://h/\n</span>new\n"}},
		"HTML text": {"mid:a@h", "Content-Type: text/html\n\n<p>one<script>alert(1)</script><p>two", []string{"one\n\ntwo", "!script>", "!alert"}},
		"alternatives": {"mid:a@h", "Content-Type: multipart/alternative; boundary=b\n\n--b\n\nplain\n--b\nContent-Type: text/html\n\n<p>markup\n--b--\n", []string{
			"plain", "!markup", `<a href="/part/2/mid:a@h">text/html</a>`}},
		"image": {"mid:a@h", "Content-Type: image/gif; name=a.gif\n\nGIF89a", []string{`<img src="/part/1/mid:a@h" alt="a.gif">`}},
	} {
		t.Run(name, func(t *testing.T) {
			v := newView(c.url, messageMedia, strings.ReplaceAll(c.text, "\n", "\r\n"))
			v.Response.Kind = fetch.Document
			contains(t, strings.ReplaceAll(v.page(t), "\r\n", "\n"), c.want...)
		})
	}
}

func FuzzMessage(f *testing.F) {
	f.Add("Subject: a\r\nReferences: <1@h>\r\n\r\n> b http://h/\r\nc")
	f.Add("Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>x\r\n--b--")
	f.Fuzz(func(t *testing.T, text string) {
		v := newView("news://h/2@h", messageMedia, text)
		v.Response.Kind = fetch.Document
		if page := v.page(t); strings.Contains(strings.ToLower(page), "<script") {
			t.Errorf("the page contains a script:\n%s", page)
		}
	})
}
