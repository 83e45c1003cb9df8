package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/browsertest"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/waistest"
	"github.com/anyurl/fetch/internal/wire/z3950"
	"github.com/anyurl/fetch/warc"
)

// TestOtherSoftware archives servers of all schemes twice and packs the archive.
// Other software reads the WARC files and the WACZ file.
func TestOtherSoftware(t *testing.T) {
	t.Parallel()
	seeds := startEveryScheme(t)
	a := crawled{dir: t.TempDir(), seeds: seeds, wacz: filepath.Join(t.TempDir(), "all.wacz")}
	args := append([]string{"mirror", "--warc", "--record-unchanged", "--compressed", "--insecure-auth", "--output-dir", a.dir}, seeds...)
	runFetch(t, 8, args...)                                                   // none.html does not exist
	runFetch(t, 8, append(args, "--warc-wire", a.seed("http")+"wire.cgi")...) // records unchanged URLs, and one with chunks
	runFetch(t, 0, "verify", a.dir)
	runFetch(t, 0, "pack", a.dir, "--wacz", a.wacz, "--text")
	runFetch(t, 0, "verify", a.wacz)
	var err error
	if a.files, err = filepath.Glob(filepath.Join(a.dir, "warc", "*.warc.gz")); err != nil || len(a.files) != 2 {
		t.Fatal(a.files, err)
	}
	var schemes []string
	a.records, schemes = countRecords(t, a.files)
	if want := []string{"file", "ftp", "gopher", "http", "imap", "news", "nntp", "wais"}; !slices.Equal(schemes, want) {
		t.Errorf("records of %q, want %q", schemes, want)
	}
	if a.index, err = os.ReadFile(filepath.Join(a.dir, "index/all.cdxj")); err != nil {
		t.Fatal(err)
	}
	contains(t, commandtest.Uncompressed(t, a.files[0]), "\r\nContent-Encoding: br\r\n", "\r\nContent-Encoding: gzip\r\n",
		"\r\nX-Orig-Transfer-Encoding: chunked\r\n", "\r\nLocation: ")
	contains(t, commandtest.Uncompressed(t, a.files[1]), "\r\nTransfer-Encoding: chunked\r\n", "\r\nWARC-Type: revisit\r\n")
	t.Run("warcio", a.testWarcio)
	t.Run("gowarc", a.testGowarc)
	t.Run("js-wacz", a.testJSWACZ)
	t.Run("ReplayWeb.page", a.testReplayWebPage)
}

// crawled is an archive with its WACZ file.
type crawled struct {
	dir, wacz string
	seeds     []string
	files     []string // the WARC files
	records   int      // number of records in files
	index     []byte
}

// seed returns the first seed with the given scheme.
func (a *crawled) seed(scheme string) string {
	i := slices.IndexFunc(a.seeds, func(s string) bool { return strings.HasPrefix(s, scheme+":") })
	return a.seeds[i]
}

// testWarcio checks that warcio reads each record, and that its index is
// identical to the index of the archive.
func (a *crawled) testWarcio(t *testing.T) {
	node, cli := peer.NeedModule(t, "warcio@2.4.11", "warcio", "dist/cli.js")
	n := a.records
	var external []string
	for _, name := range a.files {
		n -= strings.Count(runExternal(t, node, cli, "index", name), "\n")
		external = append(external, strings.SplitAfter(runExternal(t, node, cli, "cdx-index", name), "\n")...)
	}
	if n != 0 {
		t.Errorf("warcio reads %d records fewer than package warc", n)
	}
	slices.Sort(external)
	if all := strings.Join(external, ""); all != string(a.index) {
		t.Errorf("index of warcio:\n%sindex of the archive:\n%s", all, a.index)
	}
}

// testGowarc checks that gowarc verifies the digests of each record.
func (a *crawled) testGowarc(t *testing.T) {
	program := peer.NeedGowarc(t)
	out, err := exec.Command(program, append([]string{"verify", "--json"}, a.files...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	n := 0
	for line := range bytes.Lines(out) {
		var report struct {
			Valid, AllRecordsRead bool
			Errors, Count         int
		}
		if err := json.Unmarshal(line, &report); err != nil || !report.Valid || !report.AllRecordsRead || report.Errors > 0 {
			t.Errorf("%v: %s", err, line)
		}
		n += report.Count
	}
	if n != a.records {
		t.Errorf("gowarc reads %d records, package warc %d", n, a.records)
	}
}

// testJSWACZ checks that js-wacz writes the same index for the WARC files and
// accepts the parts of the WACZ file, and that its WACZ file can be read.
func (a *crawled) testJSWACZ(t *testing.T) {
	node, cli := peer.NeedModule(t, "@harvard-lil/js-wacz@0.1.6", "@harvard-lil/js-wacz", "bin/cli.js")
	parts, packed := t.TempDir(), unzip(t, a.wacz)
	for name, content := range packed {
		name = filepath.Join(parts, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	warcs := filepath.Join(parts, "archive", "*.warc.gz")
	for name, tc := range map[string]struct {
		args  []string
		index []byte
	}{
		"WARC files": {nil, a.index},
		"parts of the WACZ file": {[]string{"--pages", filepath.Join(parts, "pages"), "--cdxj", filepath.Join(parts, "indexes")},
			packed["indexes/index.cdx"]},
	} {
		out := filepath.Join(t.TempDir(), "js.wacz")
		runExternal(t, node, append([]string{cli, "create", "--file", warcs, "--output", out}, tc.args...)...)
		if got := unzip(t, out)["indexes/index.cdx"]; len(got) == 0 || !bytes.Equal(got, tc.index) {
			t.Errorf("index of the %s:\n%swant\n%s", name, got, tc.index)
		}
		contains(t, runFetch(t, 0, "--archive", out, a.seed("http")+"chunked.cgi"), "\n9998\n")
	}
}

// testReplayWebPage opens captures in ReplayWeb.page. The browser downloads
// media types that it does not show.
func (a *crawled) testReplayWebPage(t *testing.T) {
	web, gopher, ftp := a.seed("http"), a.seed("gopher"), a.seed("ftp")
	r := browsertest.OpenWACZ(t, a.wacz, web)
	r.Wait("doc.title == 'Start'")
	const styled = "doc.defaultView.getComputedStyle(doc.querySelector('h1')).color == 'rgb(1, 2, 3)'"
	r.Show(web+"page.html", styled+" && doc.querySelector('img').naturalWidth == 7")
	r.Show(web+"old", "doc.title == 'Page' && "+styled) // redirect
	r.Show(web+"a.txt", "doc.body.innerText == '"+strings.ReplaceAll(longText, "\n", `\n`)+"'")
	r.Show(web+"chunked.cgi", "doc.body.innerText.endsWith('\\n9997\\n9998\\n')")
	r.Show(web+"wire.cgi", "doc.body.innerText.endsWith('\\n9998\\n9999\\n')")
	r.Show(gopher+"0/sub/b.txt", "doc.body.innerText == 'b\\n'")
	r.Show(a.seed("file")+"c", "doc.body.innerText.startsWith('text that is long')")
	r.Show(ftp+"readme.txt", "doc.body.innerText == 'an ftp file\\n'")
	r.Show(ftp, "doc.body.innerText.includes(' readme.txt\\n')")
	r.Show(a.seed("nntp"), "doc.body.innerText.includes('\\t<1@test.example>\\t')")

	_, menu := r.Download(gopher)
	contains(t, string(menu), "0a\t/a.txt\t", "1sub\t/sub\t")
	server := strings.TrimSuffix(strings.TrimPrefix(a.seed("nntp"), "nntp:"), "local.test")
	_, message := r.Download(imapMessage(t, a.index))
	contains(t, string(message), "\r\nMessage-ID: <one@test.example>\r\n")
	_, article := r.Download("news:" + server + "1@test.example")
	contains(t, string(article), "\r\nMessage-ID: <1@test.example>\r\n", "\r\n\r\nNumber 1\r\nFrom the body\r\n.dots\r\n")
}

// imapMessage returns the URL of the first message in an index.
func imapMessage(t *testing.T, index []byte) string {
	t.Helper()
	for text := range bytes.Lines(index) {
		if l, err := warc.ParseLine(string(text)); err == nil && l.Media == "message/rfc822" && strings.HasPrefix(l.URL, "imap:") {
			return l.URL
		}
	}
	t.Fatalf("no message in the index %s", index)
	return ""
}

// longText is long enough for a revisit record.
var longText = strings.Repeat("text that is long enough for a revisit record\n", 30)

// startEveryScheme starts a server for each scheme that mirror supports. It
// returns the seeds.
func startEveryScheme(t *testing.T) []string {
	t.Helper()
	gopher := peer.Pygopherd(t, peer.PygopherdOptions{})
	gopher.Put("a.txt", []byte(longText))
	gopher.Put("a.txt.abstract", []byte("About it.\n"))
	gopher.Put("sub/b.txt", []byte("b\n"))
	ftp := peer.Vsftpd(t, peer.FTPOptions{})
	ftp.Put("pub/a b", []byte(longText))
	ftp.Put("pub/readme.txt", []byte("an ftp file\n"))
	ftp.Put("pub/empty", nil)
	news := peer.INN(t, peer.INNOptions{})
	for n := range 3 {
		news.Feed(commandtest.NewsItem(n, "local.test"))
	}
	mail := peer.Dovecot(t, peer.DovecotOptions{})
	mail.Add(peer.User, "INBOX", "From: a@b.example\r\nMessage-ID: <one@test.example>\r\n\r\nhello\r\n")
	text := waistest.NewText("/data/songs.txt", "Songs of whales", "The humpback whale sings.\n")
	sea := &waistest.Database{Documents: []*waistest.Document{text}, Rank: func(*z3950.Query) []waistest.Hit {
		return []waistest.Hit{{Document: text, Score: z3950.Some(1000)}}
	}}
	wais := faultnet.Listen(t, faultnet.Script{(&waistest.Server{Databases: map[string]*waistest.Database{"sea": sea}}).Step()})
	disk := t.TempDir()
	if err := os.WriteFile(filepath.Join(disk, "c"), []byte(longText), 0o666); err != nil {
		t.Fatal(err)
	}
	return []string{
		"http://" + startWeb(t).Addr + "/", "gopher://" + gopher.Addr + "/", "ftp://" + ftp.Addr + "/pub/",
		"nntp://" + news.Addr + "/local.test", "imap://" + peer.User + ":" + peer.Password + "@" + mail.Addr + "/INBOX",
		"wais://" + wais.Addr().String() + "/sea?whale", "file://" + disk + "/",
	}
}

// startWeb starts a web server with a redirect, br and gzip encodings, and a
// chunked response.
func startWeb(t *testing.T) *peer.Server {
	t.Helper()
	web := peer.Apache(t, peer.ApacheOptions{Config: []string{
		"Redirect 302 /old /page.html",
		"AddOutputFilterByType BROTLI_COMPRESS text/html",
		"AddOutputFilterByType DEFLATE text/css",
	}})
	web.Put("index.html", []byte("<title>Start</title><a href=old>old</a> <a href=a.txt>a</a> <a href=b.txt>b</a> "+
		"<a href=none.html>none</a> <a href=chunked.cgi>chunked</a>"))
	web.Put("page.html", []byte("<title>Page</title><link rel=stylesheet href=style.css><h1>Page</h1><img src=picture.png>"+longText))
	web.Put("style.css", []byte("h1 { color: rgb(1, 2, 3) }\n/* "+longText+" */"))
	old := web.Put("a.txt", []byte(longText))
	if err := os.Chtimes(old, time.Time{}, time.Unix(1e9, 0)); err != nil { // the second run receives a 304
		t.Fatal(err)
	}
	web.Put("b.txt", []byte(longText))
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 7, 5))); err != nil {
		t.Fatal(err)
	}
	web.Put("picture.png", picture.Bytes())
	for name, lines := range map[string]string{"chunked.cgi": "9998", "wire.cgi": "9999"} {
		script := web.Put(name, []byte("#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\nseq "+lines+"\n"))
		if err := os.Chmod(script, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return web
}

// unzip returns the contents of the files in a zip file, by name.
func unzip(t *testing.T, path string) map[string][]byte {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	files := map[string][]byte{}
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(in); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func runExternal(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || errs.Len() > 0 { // warcio prints warnings to standard error
		t.Fatalf("%s: %v\n%s", cmd, err, &errs)
	}
	return string(out)
}

// countRecords counts the records of WARC files and returns the schemes of
// their URLs.
func countRecords(t *testing.T, names []string) (n int, schemes []string) {
	t.Helper()
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r := warc.NewReader(f)
		for {
			h, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			n++
			if scheme, _, ok := strings.Cut(h.Target(), ":"); ok && !slices.Contains(schemes, scheme) {
				schemes = append(schemes, scheme)
			}
		}
	}
	slices.Sort(schemes)
	return n, schemes
}
