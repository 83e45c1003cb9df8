package gateway

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/gateway/internal/guard"
	"github.com/anyurl/fetch/internal/test/browsertest"
	"github.com/anyurl/fetch/internal/test/warctest"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// A picture is a picture of a page in doc/img.
type picture struct {
	name   string // of the file, without its extension
	path   string // of the page; "login" and "failure" are live pages
	colors string // "light" or "dark"
	width  int
	height int    // the maximum height
	before string // a JavaScript expression that is evaluated first, or ""
}

const tea = "/archive/tea-library/"

// pictures lists the pictures that the documentation uses.
var pictures = []picture{
	{"home", "/", "light", 1280, 700, ""},
	{"home-dark", "/", "dark", 1280, 700, ""},
	{"overview", tea, "light", 1280, 1700, ""},
	{"captures", tea + "*/http://www.example.org/", "light", 1280, 900, ""},
	{"differences", tea + "20240301000000-20260915000000/http://www.example.org/", "light", 1280, 700, ""},
	{"search", tea + "?text=kettle", "light", 1280, 760, ""},
	{"gopher", tea + "2026/gopher://gopher.example.org/1/", "light", 1280, 700, ""},
	{"gopher-phone", tea + "2026/gopher://gopher.example.org/1/", "dark", 400, 800, ""},
	{"ftp", tea + "2026/ftp://ftp.example.org/pub/tea/", "light", 1280, 760, openPreview},
	{"newsgroup", tea + "2026/nntp://news.example.org/rec.food.drink.tea", "light", 1280, 600, ""},
	{"article", tea + "2026/news://news.example.org/2@example.org", "light", 1280, 760, ""},
	{"archived", tea + "2026/http://www.example.org/", "light", 1280, 480, ""},
	{"login", "login", "light", 1280, 560, ""},
	{"failure", "failure", "light", 1280, 560, ""},
}

// openPreview opens the preview of a text.
const openPreview = `(async () => {
	[...document.querySelectorAll('tr')].find(r => r.querySelector('iframe'))?.querySelector('summary').click()
	while (document.querySelector('iframe')?.contentDocument?.querySelector('pre') == null) await new Promise(f => setTimeout(f, 20))
	return 1
})()`

// maxPicture is the maximum size of a file in doc/img.
const maxPicture = 60 << 10

// TestPictures checks the sizes of the pictures in doc/img, and that the
// documentation uses all of them.
func TestPictures(t *testing.T) {
	files, err := filepath.Glob("../doc/img/*")
	if err != nil || len(files) != len(pictures) {
		t.Errorf("%d files, %d pictures, %v", len(files), len(pictures), err)
	}
	var texts strings.Builder
	pages, _ := filepath.Glob("../doc/*.md")
	for _, name := range append(pages, "../README.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts.Write(text)
	}
	for _, p := range pictures {
		data, err := os.ReadFile("../doc/img/" + p.name + ".png")
		if err != nil {
			t.Error(err)
			continue
		}
		c, err := png.DecodeConfig(bytes.NewReader(data))
		if err != nil || len(data) > maxPicture || c.Width != p.width || c.Height > p.height {
			t.Errorf("%s: %d bytes, %d by %d pixels, %v", p.name, len(data), c.Width, c.Height, err)
		}
		if !strings.Contains(texts.String(), "img/"+p.name+".png") {
			t.Errorf("no page uses %s", p.name)
		}
	}
}

// TestScreenshots writes the pictures in doc/img if FETCH_SCREENSHOTS is 1. Another
// value names a directory for pictures of all pages in two widths and colors.
func TestScreenshots(t *testing.T) {
	where := os.Getenv("FETCH_SCREENSHOTS")
	if where == "" {
		t.Skip("writes pictures: make screenshots")
	}
	l, err := Listen("127.0.0.1:8700") // the address is in the pictures
	if err != nil {
		t.Fatal(err)
	}
	h := newTeaHandler(t, l.Addr().String())
	serve(t, h, l)
	base := "http://" + l.Addr().String()
	p := browsertest.Start(t, l.Addr().String()).Open(base + h.TokenPath())
	write := func(name string, c picture) {
		path := c.path
		switch path {
		case "login":
			path = signed(h, guard.Permission{Level: guard.Entered}, "imap://mail.example.org/INBOX")
		case "failure":
			path = signed(h, guard.Permission{Level: guard.Entered}, "gopher://gopher.example.org/1/")
		}
		p.SetWidth(c.width)
		p.SetColors(c.colors)
		p.Go(base + path)
		if c.before != "" {
			p.Eval(c.before)
		}
		if err := os.WriteFile(name, p.Screenshot(c.width, c.height), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range pictures {
		if where == "1" {
			write("../doc/img/"+c.name+".png", c)
			continue
		}
		c.height = 2400
		for _, c.colors = range []string{"light", "dark"} {
			for _, c.width = range []int{1280, 400} {
				write(fmt.Sprintf("%s/%s-%s-%d.png", where, c.name, c.colors, c.width), c)
			}
		}
	}
}

// newTeaHandler returns a Handler for the archive of the pictures. Its live pages
// use no network.
func newTeaHandler(t *testing.T, address string) *Handler {
	t.Helper()
	answer := func(fetch.Driver) fetch.Driver {
		return fetch.DriverFunc(func(_ context.Context, req *fetch.Request) (*fetch.Response, error) {
			if req.URL.Scheme() == "imap" {
				return nil, override.With(fetch.Auth.Errorf("server requires authentication, but the URL names no user"), override.Setting{Kind: override.Login})
			}
			return nil, fetch.Connect.Errorf("connection refused")
		})
	}
	source := warctest.Open(t, warc.Options{}, writeTea(t))
	o := Options{Address: testAddress, Schemes: schemes.All(schemes.Options{})}
	o.Archives = []Archive{{
		Name: "tea-library", Source: source, Runs: teaRuns, Failures: teaFailures,
		Seeds:   []string{"http://www.example.org/", "gopher://gopher.example.org/1/", "ftp://ftp.example.org/pub/tea/", "nntp://news.example.org/rec.food.drink.tea"},
		Report:  []byte(teaReport),
		Options: []byte(`{"version":1,"scope":{"reach":"host","exclude":["*.iso"]},"limits":{"max_bytes":67108864}}`),
	}, {Name: "letters.warc.gz", Source: warctest.Open(t, warc.Options{}, writeTea(t))}}
	o.Live = &Live{Client: func(p fetch.Policy, personal bool) (*fetch.Client, error) {
		return fetch.New(fetch.Options{Policy: p, Wrap: []fetch.Middleware{answer}}, o.Schemes...), nil
	}}
	withTexts(t)(&o)
	h, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	if got := h.address; got != address {
		t.Fatalf("address %s", got)
	}
	return h
}

const teaReport = `{"run":6,"started":"2026-09-01T06:00:00Z","ended":"2026-09-01T06:02:31Z","result":"complete","seeds":4,"totals":{"visited":912,"new":61,"unchanged":839,"failed":12,"excluded":37,"bytes":4812345},` +
	`"failures":[{"name":"not-found","urls":9},{"name":"dns","urls":2},{"name":"timeout","urls":1}],` +
	`"exclusions":[{"name":"outside the scope","urls":31},{"name":"robots.txt","urls":6}]}`

func teaRuns(context.Context) (all []Run, complete bool, err error) {
	start := time.Date(2024, 3, 1, 6, 0, 0, 0, time.UTC)
	for i, fresh := range []int64{640, 58, 71, 22, 104, 61} {
		at := start.AddDate(0, 6*i, 0)
		all = append(all, Run{Number: int64(i + 1), Started: at, Ended: at.Add(time.Duration(90+fresh) * time.Second), New: fresh,
			Unchanged: int64(i) * 150, Failed: 12, Excluded: 37, Bytes: fresh * 41_000})
	}
	return all, true, nil
}

func teaFailures(context.Context) iter.Seq2[Failure, error] {
	return func(yield func(Failure, error) bool) {
		yield(Failure{URL: "http://www.example.org/pots/", Via: "http://www.example.org/", Reason: "not-found: server answered 404 Not Found"}, nil)
	}
}

// writeTea returns a function that writes the archive of the pictures.
func writeTea(t *testing.T) func(*warc.Writer) {
	return func(w *warc.Writer) {
		write := func(day, u, media, body string) {
			at, err := time.Parse(time.DateOnly, day)
			if err != nil {
				t.Fatal(err)
			}
			c := warc.Capture{URL: uri.MustParse(u), Date: at}
			r := c.Resource(media, strings.NewReader(body))
			if strings.HasPrefix(u, "http") {
				r = c.Response(strings.NewReader(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", media, len(body), body)))
			}
			if _, err := w.Write(r); err != nil {
				t.Fatal(err)
			}
		}
		for i, day := range []string{"2024-03-01", "2024-09-01", "2025-03-01", "2025-09-01", "2026-03-01", "2026-04-12", "2026-09-15"} {
			write(day, "http://www.example.org/", "text/html; charset=utf-8", teaPage(i))
		}
		for _, d := range teaDocuments {
			write("2026-09-15", d.url, d.media, d.body)
		}
	}
}

// teaPage returns the version of a web page with the number i.
func teaPage(i int) string {
	news := []string{"The library opens.", "Sixty new letters.", "A gopher server.", "The kettle catalogue.", "Pictures of pots.", "Spring opening hours.", "A list of tea houses."}
	page := `<!DOCTYPE html><html lang="en"><head><title>The tea library</title><style>body{font:18px/1.6 Georgia,serif;margin:0;color:#2b2118;background:#fbf6ec}` +
		`header{background:#5a3921;color:#fff;padding:24px 40px}main{padding:8px 40px;max-width:46em}h1{margin:0;font-weight:400}a{color:#8a4b12}</style></head>` +
		`<body><header><h1>The tea library</h1></header><main><p>Letters, catalogues and pictures about tea since 1994. ` +
		`The files are also on <a href="gopher://gopher.example.org/1/">gopher</a> and <a href="ftp://ftp.example.org/pub/tea/">ftp</a>.</p><h2>News</h2><ul>`
	for n := i; n >= max(i-2, 0); n-- {
		page += "<li>" + news[n] + "</li>"
	}
	return page + "</ul></main></body></html>"
}

// teaDocuments are the objects of the archive of the pictures.
var teaDocuments = []struct{ url, media, body string }{
	{"gopher://gopher.example.org/1/", "application/gopher-menu", strings.Join([]string{
		"iThe tea library\t\tnull\t1", "i\t\tnull\t1", "0About this library\t/about.txt\tgopher.example.org\t70",
		"1Letters from readers\t/letters\tgopher.example.org\t70", "1Recipes\t/recipes\tgopher.example.org\t70",
		"gThe blue kettle\t/kettle.gif\tgopher.example.org\t70", "9Catalogue of 1994\t/catalogue.zip\tgopher.example.org\t70",
		"7Search the library\t/search\tgopher.example.org\t70", "8Terminal of the reading room\ttea\treading.example.org\t23",
		"hThe library on the web\tURL:http://www.example.org/\tgopher.example.org\t70", "."}, "\r\n") + "\r\n"},
	{"gopher://gopher.example.org/0/about.txt", "text/plain", "The tea library was opened in 1994.\r\nIt has 640 letters, a kettle and a catalogue.\r\n"},
	{"ftp://ftp.example.org/pub/tea/", "text/x-ftp-list; dialect=unix; at=20260915000000", strings.Join([]string{
		"drwxr-xr-x 2 ftp ftp 4096 Sep  1  1994 letters", "drwxr-xr-x 2 ftp ftp 4096 Sep  1  1994 pictures",
		"-rw-r--r-- 1 ftp ftp 1403 Feb  5  1994 INDEX.gz", "-rw-r--r-- 1 ftp ftp 151862 Jul 15  1994 kettle-1.2.tar.gz",
		"-rw-r--r-- 1 ftp ftp 412 May 11  1994 tea-faq.txt", "-rw-r--r-- 1 ftp ftp 88123 Jun 13  1994 tea-history.pdf"}, "\r\n") + "\r\n"},
	{"ftp://ftp.example.org/pub/tea/tea-faq.txt", "text/plain", "Questions and answers about tea\n\n1. How hot is the water?\n" +
		"   Boiling for black tea. 70 to 80 degrees for green tea.\n\n2. How long does it stand?\n   Two to five minutes.\n\n3. Which kettle do you use?\n   The blue one.\n"},
	{"nntp://news.example.org/rec.food.drink.tea", `text/x-nntp-overview; fields="subject,from,date,message-id,references"`, strings.Join([]string{
		"1\tWhich kettle?\tAlice Arden <alice@example.org>\t12 Sep 2026 08:10:00 +0000\t<1@example.org>\t",
		"2\tRe: Which kettle?\tJörg Meier <joerg@example.net>\t12 Sep 2026 09:30:00 +0000\t<2@example.org>\t<1@example.org>",
		"3\tRe: Which kettle?\tAlice Arden <alice@example.org>\t12 Sep 2026 11:02:00 +0000\t<3@example.org>\t<1@example.org> <2@example.org>",
		"4\tRe: Which kettle?\tCho Min-ji <minji@example.com>\t13 Sep 2026 01:44:00 +0000\t<4@example.org>\t<1@example.org>",
		"5\tFirst flush of this year\tRavi Sen <ravi@example.net>\t13 Sep 2026 17:20:00 +0000\t<5@example.org>\t",
		"6\tRe: First flush of this year\tAlice Arden <alice@example.org>\t14 Sep 2026 06:05:00 +0000\t<6@example.org>\t<5@example.org>",
		"7\tOpening hours of the library\tThe library <library@example.org>\t14 Sep 2026 10:00:00 +0000\t<7@example.org>\t"}, "\r\n") + "\r\n"},
	{"news://news.example.org/2@example.org", "message/rfc822", "From: =?utf-8?q?J=C3=B6rg_Meier?= <joerg@example.net>\r\nNewsgroups: rec.food.drink.tea\r\n" +
		"Subject: Re: Which kettle?\r\nDate: Sat, 12 Sep 2026 09:30:00 +0000\r\nMessage-ID: <2@example.org>\r\nReferences: <1@example.org>\r\n" +
		"MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n" +
		"Alice Arden wrote:\r\n> Which kettle do you use?\r\n\r\nThe blue one. Its picture is in the library:\r\ngopher://gopher.example.org/g/kettle.gif\r\n\r\nJörg\r\n" +
		"--b\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename=\"kettle manual.pdf\"\r\nContent-Transfer-Encoding: base64\r\n\r\nJVBERi0xLjQK\r\n--b--\r\n"},
	{"http://www.example.org/kettles", "text/html; charset=utf-8", "<!DOCTYPE html><title>Kettles of the library</title><p>The blue kettle was made in 1931. A kettle of copper came in 1960."},
}
