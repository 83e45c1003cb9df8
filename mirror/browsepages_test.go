package mirror_test

import (
	"fmt"
	"html"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/test/browsertest"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/mirror"
)

// reply is an article with an attachment. It replies to the article 1.
const reply = "Path: elsewhere.example.org!not-for-mail\r\nFrom: =?utf-8?q?J=C3=B6rg?= <j@example.org>\r\nNewsgroups: local.test\r\n" +
	"Subject: Re: number 1\r\nDate: Tue, 02 Jan 2024 00:00:00 +0000\r\nMessage-ID: <reply@example.org>\r\nReferences: <1@example.org>\r\n" +
	"MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\r\n" +
	"> a line\r\ncaf\xe9 <script>alert(1)</script>\r\n--b\r\nContent-Type: text/html; name=evil.html\r\nContent-Disposition: attachment\r\n\r\n" +
	"<script>alert(1)</script>\r\n--b--\r\n"

// TestBrowsePages opens static pages of a gopher server, an ftp server and a
// newsgroup in Chromium, without a server. It follows their links.
func TestBrowsePages(t *testing.T) {
	t.Parallel()
	g := peer.Pygopherd(t, peer.PygopherdOptions{})
	addSource(g.Put)
	g.Put("pub/index", []byte("a text with the name of the listing\n"))
	f := peer.Vsftpd(t, peer.FTPOptions{})
	addSource(f.Put)
	f.Put("pub/sub/index.html", []byte("<h1>own</h1>"))
	n := peer.INN(t, peer.INNOptions{Groups: []string{"local.test", "local.other"}})
	for i := range 3 {
		n.Feed(posting(i, "local.test", "a line\r\n"))
	}
	n.Feed(posting(100, "local.test,local.other", "to both\r\n"))
	n.Feed(reply)
	o := options(t, "gopher://"+g.Addr+"/1/pub", "ftp://"+f.Addr+"/pub/", "nntp://"+n.Addr+"/local.test", "nntp://"+n.Addr+"/local.other")
	run(t, o)
	n.Feed(posting(4, "local.test", "retrieved by the second run\r\n"))
	run(t, o)
	to := t.TempDir()
	if err := mirror.Browse(t.Context(), o, to); err != nil {
		t.Fatal(err)
	}
	checkLinks(t, to)

	p := browsertest.Start(t).Open("file://" + to + "/index.html")
	open := func(text, wait string) {
		t.Helper()
		p.Go(p.Eval(fmt.Sprintf("[...document.querySelectorAll('main a')].find(a => a.textContent == %q).href", text)))
		p.Wait(wait)
	}
	heading := func(text string) string { return fmt.Sprintf("document.querySelector('h1').textContent == %q", text) }
	open("gopher://"+g.Addr+"/1/pub", heading("pub"))
	p.Wait("getComputedStyle(document.querySelector('h1')).fontWeight == '600'")
	open("one", "document.querySelector('pre').textContent == 'the first\\n'")
	open("pub", heading("pub"))
	open("index", "document.querySelector('pre').textContent.startsWith('a text with')")

	p.Go("file://" + to + "/index.html")
	open("ftp://"+f.Addr+"/pub/", "document.querySelectorAll('tbody tr').length == 5")
	open("sub/", "document.querySelectorAll('tbody tr').length == 3")
	open("index.html", heading("own"))

	p.Go("file://" + to + "/index.html")
	open("nntp://"+n.Addr+"/local.test", "document.querySelectorAll('.threads li').length == 6")
	p.Wait("document.querySelector('.threads li li').textContent.startsWith('Jörg 2024-01-02')")
	open("Jörg", heading("Re: number 1"))
	p.Wait("document.querySelector('pre').textContent.includes('café <script>')")
	p.Wait("document.querySelector('.quote').textContent.startsWith('> a line')")
	open("<1@example.org>", heading("number 1"))
	open("local.test", "document.querySelectorAll('.threads li').length == 6")
	p.Go("file://" + to + "/index.html")
	open("nntp://"+n.Addr+"/local.other", "document.querySelectorAll('tbody tr').length == 1")
	if got := p.Errors(); len(got) > 0 {
		t.Errorf("console: %q", got)
	}
	for name := range tree(t, to, "../news") {
		if strings.Contains(name, ".parts/") && !strings.HasSuffix(name, "evil.html.txt") {
			t.Errorf("attachment %s", name)
		}
	}
}

var reference = regexp.MustCompile(`(?:href|src)="([^"]*)"`)

// checkLinks checks that each relative link of the pages in dir leads to a file,
// and that no partial file is left.
func checkLinks(t *testing.T, dir string) {
	t.Helper()
	links := 0
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if strings.HasSuffix(name, ".part") {
			t.Errorf("%s is a partial file", name)
		}
		if filepath.Ext(name) != ".html" {
			return nil
		}
		text, err := os.ReadFile(name)
		for _, m := range reference.FindAllStringSubmatch(string(text), -1) {
			u, err := url.Parse(html.UnescapeString(m[1]))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if u.Scheme != "" || u.Path == "" {
				continue
			}
			links++
			if _, err := os.Stat(filepath.Join(filepath.Dir(name), filepath.FromSlash(u.Path))); err != nil {
				t.Errorf("%s: link %s: %v", name, m[1], err)
			}
		}
		return err
	})
	if err != nil || links < 50 {
		t.Errorf("%d links, %v", links, err)
	}
}

// TestBrowseLongListing checks the pages of a listing with 2,001 entries.
func TestBrowseLongListing(t *testing.T) {
	if testing.Short() {
		t.Skip("writes thousands of files")
	}
	t.Parallel()
	dir := t.TempDir()
	for n := range 2000 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d", n)), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "index~2.html"), []byte("own"), 0o666); err != nil {
		t.Fatal(err)
	}
	o := options(t, "file://"+dir+"/", "file://"+dir+"/index~2.html")
	o.Scope.Depth = -1 // only the seeds
	run(t, o)
	to := t.TempDir()
	if err := mirror.Browse(t.Context(), o, to); err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	for _, name := range []string{"index.html", "index~2~.html", "index~3.html"} {
		found, _ := filepath.Glob(filepath.Join(to, "file", "*", dir, name))
		if len(found) != 1 {
			t.Fatalf("%d files %s", len(found), name)
		}
		text, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		pages[name] = string(text)
	}
	for name, want := range map[string][]string{
		"index.html":    {">0000</td>", ">0999</td>", `<a rel="next" href="index~2~.html">`, "1000 entries on page 1"},
		"index~2~.html": {">1000</td>", ">1999</td>", `<a rel="prev" href="index.html">`, `<a rel="next" href="index~3.html">`},
		"index~3.html":  {">index~2.html</a>", "1 entry on page 3", `<a rel="prev" href="index~2~.html">`},
	} {
		for _, text := range want {
			if !strings.Contains(pages[name], text) {
				t.Errorf("%s: %s is missing", name, text)
			}
		}
	}
}

// TestBrowseKill kills processes that write a browsable copy. No file with its
// final name is incomplete, and the next process completes the copy.
func TestBrowseKill(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Parallel()
	s := sites["file"](t)
	for n := range 20 {
		s.Put(fmt.Sprintf("pub/many/%d.txt", n), []byte(strings.Repeat("line <b>\n", 1000*n)))
	}
	task := childTask{Dir: t.TempDir(), URLs: s.urls, Tree: true}
	task.finish(t)
	task.Browse = t.TempDir()
	took := task.finish(t)
	want := tree(t, task.Browse, "..")
	task.Browse = t.TempDir()
	killed := 0
	for range 5 {
		c := task.start(t)
		kill := time.AfterFunc(time.Duration(rand.Int64N(int64(took))), func() { c.Process.Kill() })
		if c.Wait() != nil {
			killed++
		}
		kill.Stop()
		for name, text := range tree(t, task.Browse, "..") {
			if final, part := strings.CutSuffix(name, ".part"); text != want[final] && !part {
				t.Fatalf("%s is incomplete", name)
			}
		}
	}
	task.finish(t)
	if got := tree(t, task.Browse, ".."); !maps.Equal(got, want) || len(got) < 50 {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
	t.Logf("%d processes were killed, and a process needs %v", killed, took)
}
