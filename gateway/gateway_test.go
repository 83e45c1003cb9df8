package gateway

import (
	"strings"
	"testing"
)

const root = "/archive/sample.warc.gz/"

// TestPages requests pages and checks the status, and texts that the header and
// body contain. A text that begins with "!" must be missing.
func TestPages(t *testing.T) {
	h := newHandler(t, nil)
	for name, c := range map[string]struct {
		target string
		status int
		want   []string
	}{
		"home":            {"/", 200, []string{`href="/archive/sample.warc.gz/">sample.warc.gz</a>`}},
		"home with cards": {"/", 200, []string{"<title>fetch</title>", "captures</span>", "2024-01-01 to 2026-01-01", "!Open a URL"}},
		"list of captures": {root + "*/http://a.example/", 200, []string{"January 2026", `aria-current="page">2026`, `href="` + root + `2024*/http://a.example/">2024</a>`,
			`title="2026-01-01: 1 complete"`, `href="` + root + `20240101000000-20250101000000/http://a.example/">compare</a>`, `name="url" value="http://a.example/"`}},
		"list of a year": {root + "2025*/http://a.example/", 200, []string{"Captures from 2025-01-01 to 2025-12-31", "January 2025", "!2026-01-01 00:00:00 UTC"}},
		"list of a day": {root + "20240101*/http://a.example/", 200, []string{
			`/20240101000000/http://a.example/"><span class="nobr">2024-01-01</span> <span class="nobr">00:00:00</span> <span class="nobr">UTC</span></a>`,
			"!20250101000000/http://a.example/\"><span"}},
		"list of an empty year":       {root + "2019*/http://a.example/", 404, []string{"no capture"}},
		"list of month 13":            {root + "202413*/http://a.example/", 400, []string{"The date is invalid"}},
		"date jump":                   {root + "?date=2025-03-01&url=http%3A%2F%2Fa.example%2F", 302, []string{"Location: " + root + "20250301/http://a.example/"}},
		"invalid date":                {root + "?date=x&url=http%3A%2F%2Fa.example%2F", 400, []string{"A date looks like"}},
		"date without URL":            {root + "?date=2025-03-01", 400, []string{"The URL is invalid"}},
		"comparison":                  {root + "20240101000000-20250101000000/http://a.example/", 200, []string{"<del>first", "<ins>second"}},
		"equal texts":                 {root + "20240101000000-20240101000000/http://a.example/", 200, []string{"The texts of both captures are equal"}},
		"comparison of a missing URL": {root + "20240101000000-20250101000000/http://a.example/none", 404, []string{"no capture"}},
		"comparison of images":        {root + "20240101000000-20250101000000/http://a.example/pixel.gif", 400, []string{"image/gif, which is no text"}},
		"feed": {root + "?feed", 200, []string{"Content-Type: application/atom+xml", `<feed xmlns="http://www.w3.org/2005/Atom">`, "<updated>2026-01-01T00:00:00Z</updated>",
			"<title>http://a.example/</title>", `href="http://localhost:8700` + root + `20260101000000/http://a.example/"`}},
		"style sheet":           {"/style.css", 200, []string{"Content-Type: text/css", "prefers-color-scheme"}},
		"overview":              {root, 200, []string{">gopher<", ">a.example<", ">text/html<", ">404<", `*/gopher://g.example/1/"`}},
		"archive without slash": {"/archive/sample.warc.gz", 302, []string{"Location: " + root}},
		"search": {root + "?prefix=http://a.example/t", 200, []string{
			`href="/archive/sample.warc.gz/20240101000000/http://a.example/two?q=1"`, "!pixel"}},
		"search without a scheme": {root + "?prefix=A.example/two", 200, []string{"http://a.example/two?q=1</a>", "!pixel"}},
		"search of gopher":        {root + "?prefix=gopher%3A%2F%2Fg.example%2F0", 200, []string{"about.txt", "!/1/"}},
		"search without hits":     {root + "?prefix=ftp://nowhere", 200, []string{"No captured URL begins with this text"}},
		"page with images and links": {root + "20240101000000/http://a.example/", 200, []string{
			`src="/archive/sample.warc.gz/20240101000000mp_/http://a.example/pixel.gif"`,
			`href="/archive/sample.warc.gz/20240101000000/http://a.example/two?q=1#part"`,
			"/20240101000000mp_/http://a.example/style.css", "mailto:x@example.org", `<body class=x><details id=`,
			"Archived 2024-01-01 00:00:00 UTC", `/20250101000000/http://a.example/">next`, "!previous",
			"Memento-Datetime: Mon, 01 Jan 2024 00:00:00 GMT"}},
		"year selects its capture": {root + "2025/http://a.example/", 200, []string{"second", "previous", "next"}},
		"nearest capture":          {root + "20250401/http://a.example/", 200, []string{"second"}},
		"frameset has no banner":   {root + "2026/http://a.example/", 200, []string{"!Archived", "20260101000000mp_/http://a.example/a.html"}},
		"frame has no banner":      {root + "2025mp_/http://a.example/", 200, []string{"!Archived", "second"}},
		"style sheet of a page":    {root + "2024mp_/http://a.example/style.css", 200, []string{"Content-Type: text/css", "mp_/http://a.example/more.css", "mp_/http://a.example/pixel.gif"}},
		"bytes":                    {root + "2024id_/http://a.example/", 200, []string{`<img src="/pixel.gif">`, "!Archived", "Content-Disposition: attachment"}},
		"bytes of an image":        {root + "2024id_/http://a.example/pixel.gif", 200, []string{"GIF89a", "!Content-Disposition"}},
		"page in UTF-16":           {root + "2024/http://a.example/utf16", 200, []string{"Content-Type: text/html; charset=utf-8", `mp_/http://a.example/pixel.gif"`, "Archived"}},
		"connection hints":         {root + "2024/http://a.example/hints", 200, []string{`!evil.example"`, `rel="preconnect" href=""`}},
		"only capture":             {root + "2024/http://a.example/two?q=1", 200, []string{`rel="first last memento"; datetime="Mon, 01 Jan`}},
		"query":                    {root + "2024/http://a.example/two?q=1", 200, []string{"<h1>query</h1>"}},
		"double slashes":           {root + "2024/http://a.example//double//slash", 200, []string{"double"}},
		"host in capitals":         {root + "2024/HTTP://A.example:80/two?q=1", 200, []string{"<h1>query</h1>"}},
		"redirect":                 {root + "2024/http://a.example/moved", 301, []string{"Location: /archive/sample.warc.gz/20240101000000/http://a.example/two?q=1"}},
		"redirect of bytes":        {root + "2024id_/http://a.example/moved", 301, []string{"Location: /archive/sample.warc.gz/20240101000000id_/http://a.example/two?q=1"}},
		"redirect to another host": {root + "2024/http://a.example/away", 302, []string{"Location: /archive/sample.warc.gz/20240101000000/http://evil.example/x"}},
		"archived error page":      {root + "2024/http://a.example/missing", 404, []string{"gone", "Archived"}},
		"revisit":                  {root + "20250601id_/http://a.example/pixel.gif", 200, []string{"GIF89a", "Content-Type: image/gif", "Memento-Datetime: Sun, 01 Jun 2025"}},
		"content coding":           {root + "2024id_/http://a.example/zipped", 200, []string{"unzipped", "!Content-Encoding"}},
		"script as text":           {root + "2024/http://a.example/app.js", 200, []string{"var a = &#39;&lt;p&gt;&#39;"}},
		"script of a page":         {root + "2024mp_/http://a.example/app.js", 200, []string{"Content-Type: text/javascript", "var a = '<p>'"}},
		"image":                    {root + "2024/gopher://g.example/I/pixel.gif", 200, []string{`<img src="/archive/sample.warc.gz/20240101000000id_/gopher://g.example/I/pixel.gif"`}},
		"gopher menu": {root + "2024/gopher://g.example/1/", 200, []string{
			`href="/archive/sample.warc.gz/20240101000000/gopher://g.example/0/about.txt">About`, "Welcome &lt;b&gt;",
			"/20240101000000/http://a.example/"}},
		"text in another charset": {root + "2024/gopher://g.example/0/about.txt", 200, []string{"café &lt;script&gt;\ufffd"}},
		"ftp directory":           {root + "2024/ftp://f.example/pub/", 200, []string{"ftp://f.example/pub/README", "531 B", "2023-01-29"}},
		"download": {root + "2024/ftp://f.example/pub/file.zip", 200, []string{
			"Content-Disposition: attachment; filename=file.zip", "Content-Length: 4", "PK"}},
		"article": {root + "2024/news://n.example/2@example.org", 200, []string{
			"Jörg", "café &lt;b&gt;", "/20240101000000/news://n.example/1@example.org", "20240101000000id_;part=2/news://n.example/2@example.org"}},
		"session":           {root + "2024/telnet://user:secret@g.example:2323/", 200, []string{"fetch &#39;telnet://g.example:2323/&#39;", "<dd>user</dd>", "!secret", "!Archived"}},
		"sorted directory":  {root + "2024;sort=-name/ftp://f.example/pub/", 200, []string{`aria-sort="descending"`, `href="/archive/sample.warc.gz/20240101000000;sort=name/ftp://f.example/pub/"`}},
		"second page":       {root + "2024;sort=size;page=2/ftp://f.example/pub/", 200, []string{"0 entries on page 2"}},
		"unknown order":     {root + "2024;sort=colour/ftp://f.example/pub/", 404, nil},
		"page 0":            {root + "2024;page=0/ftp://f.example/pub/", 404, nil},
		"group as news":     {root + "2024/news://n.example/comp.test", 302, []string{"Location: /archive/sample.warc.gz/20240101000000/nntp://n.example/comp.test"}},
		"newsgroup":         {root + "2024/nntp://n.example/comp.test", 200, []string{`<ul class="threads">`, `nntp://n.example/comp.test/2">B</a>`}},
		"missing group":     {root + "2024/news://n.example/comp.other", 404, nil},
		"attachment":        {root + "2024id_;part=2/news://n.example/2@example.org", 200, []string{"PK\x05", "Content-Type: application/zip", "Content-Disposition: attachment"}},
		"missing part":      {root + "2024id_;part=9/news://n.example/2@example.org", 404, nil},
		"without a type":    {root + "2024/gopher://g.example/9/untyped", 200, []string{"<pre>plain words"}},
		"all captures":      {root + "*/http://a.example/", 200, []string{"2024-01-01", "2025-01-01", "2026-01-01", "sha1:"}},
		"no capture":        {root + "2024/http://b.example/", 404, []string{"no capture of this URL", "does not retrieve it", "?prefix=http%3A%2F%2Fb.example%2F"}},
		"no captures":       {root + "*/http://b.example/", 404, nil},
		"unknown archive":   {"/archive/other/", 404, nil},
		"unknown route":     {"/live/http://a.example/", 404, nil},
		"proxy request":     {"http://a.example/", 403, nil},
		"relative URL":      {root + "2024/x", 400, nil},
		"three digits":      {root + "202/http://a.example/", 404, nil},
		"fifteen digits":    {root + "202401010000000/http://a.example/", 404, nil},
		"month 13":          {root + "202413/http://a.example/", 400, nil},
		"timestamp as text": {root + "latest/http://a.example/", 404, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := get(h, "GET", c.target)
			checkResponse(t, w, c.status, c.want)
		})
	}
}

// TestStyleSheet checks that browsers store the style sheet, and use it only as
// long as it is unchanged.
func TestStyleSheet(t *testing.T) {
	h := newHandler(t, nil)
	tag := get(h, "GET", "/style.css").Header().Get("ETag")
	for field, status := range map[string]int{tag: 304, `"other"`: 200} {
		if w := get(h, "GET", "/style.css", "If-None-Match: "+field); w.Code != status || (w.Body.Len() > 0) != (status == 200) {
			t.Errorf("%s: status %d with %d bytes", field, w.Code, w.Body.Len())
		}
	}
}

// TestMemento checks the negotiation by date (RFC 7089).
func TestMemento(t *testing.T) {
	h := newHandler(t, nil)
	for name, c := range map[string]struct{ accept, location string }{
		"latest":       {"", "20260101000000"},
		"exact":        {"Wed, 01 Jan 2025 00:00:00 GMT", "20250101000000"},
		"before first": {"Thu, 01 Jan 1998 00:00:00 GMT", "20240101000000"},
		"after last":   {"Fri, 01 Jan 2044 00:00:00 GMT", "20260101000000"},
	} {
		t.Run(name, func(t *testing.T) {
			var fields []string
			if c.accept != "" {
				fields = []string{"Accept-Datetime: " + c.accept}
			}
			w := get(h, "GET", root+"timegate/http://a.example/", fields...)
			if got := w.Header().Get("Location"); w.Code != 302 || got != root+c.location+"/http://a.example/" || w.Header().Get("Vary") != "accept-datetime" {
				t.Errorf("%d %s %s", w.Code, got, w.Header())
			}
			if got := w.Header().Get("Link"); !strings.Contains(got, `<http://a.example/>; rel="original"`) {
				t.Errorf("Link: %s", got)
			}
		})
	}
	if w := get(h, "GET", root+"timegate/http://a.example/", "Accept-Datetime: yesterday"); w.Code != 400 {
		t.Errorf("invalid date: %d", w.Code)
	}
	if w := get(h, "GET", root+"timegate/http://b.example/"); w.Code != 404 {
		t.Errorf("no capture: %d", w.Code)
	}
	at := func(ts string) string { return "<http://localhost:8700" + root + ts + "/http://a.example/>; " }
	w := get(h, "GET", root+"2025/http://a.example/")
	want := `<http://a.example/>; rel="original", <http://localhost:8700` + root + `timegate/http://a.example/>; rel="timegate", ` +
		`<http://localhost:8700` + root + `timemap/link/http://a.example/>; rel="timemap"; type="application/link-format", ` +
		at("20240101000000") + `rel="first prev memento"; datetime="Mon, 01 Jan 2024 00:00:00 GMT", ` +
		at("20260101000000") + `rel="next last memento"; datetime="Thu, 01 Jan 2026 00:00:00 GMT", ` +
		at("20250101000000") + `rel="memento"; datetime="Wed, 01 Jan 2025 00:00:00 GMT"`
	if got := w.Header().Get("Link"); got != want {
		t.Errorf("Link:\n%s\nwant\n%s", got, want)
	}
	w = get(h, "GET", root+"timemap/link/http://a.example/")
	want = `<http://a.example/>; rel="original",
<http://localhost:8700` + root + `timemap/link/http://a.example/>; rel="self"; type="application/link-format"; ` +
		`from="Mon, 01 Jan 2024 00:00:00 GMT"; until="Thu, 01 Jan 2026 00:00:00 GMT",
<http://localhost:8700` + root + `timegate/http://a.example/>; rel="timegate",
` + at("20240101000000") + `rel="first memento"; datetime="Mon, 01 Jan 2024 00:00:00 GMT",
` + at("20250101000000") + `rel="memento"; datetime="Wed, 01 Jan 2025 00:00:00 GMT",
` + at("20260101000000") + `rel="last memento"; datetime="Thu, 01 Jan 2026 00:00:00 GMT"
`
	if got := w.Body.String(); got != want || w.Header().Get("Content-Type") != "application/link-format" {
		t.Errorf("time map:\n%s\nwant\n%s", got, want)
	}
}
