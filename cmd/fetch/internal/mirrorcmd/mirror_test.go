package mirrorcmd_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/peer"
)

// TestMirrorNews mirrors two groups of an INN server. Then it mirrors the same
// groups from a server that has other article numbers, two more articles and
// one article less.
func TestMirrorNews(t *testing.T) {
	t.Parallel()
	groups := peer.INNOptions{Groups: []string{"local.test", "local.other"}}
	first, second := peer.INN(t, groups), peer.INN(t, groups)
	for n := range 5 {
		first.Feed(commandtest.NewsItem(n, "local.test"))
	}
	first.Feed(commandtest.NewsItem(5, "local.test,local.other"))
	for _, n := range []int{7, 5, 3, 1, 4, 0, 6} { // article 2 has expired
		second.Feed(commandtest.NewsItem(n, "local.test"))
	}
	dir := t.TempDir()
	mirror := func(s *peer.News) {
		t.Helper()
		commandtest.Run(t, 0, "mirror", "--warc", "--mailboxes", "mbox", "--delay", "0", "--output-dir", dir,
			"--connect-to", "news.example:119:"+s.Addr, "nntp://news.example/local.test",
			"nntp://news.example/local.other")
		commandtest.Run(t, 0, "verify", dir)
	}
	mirror(first)
	if got := commandtest.States(t, dir, 1); got["kept"] != 6 {
		t.Errorf("want 6 articles, the cross-post once: %v", got)
	}
	mirror(first)
	if got := commandtest.States(t, dir, 2); got["kept"] != 0 {
		t.Errorf("want no new articles: %v", got)
	}
	mirror(second)
	if got := commandtest.States(t, dir, 3); got["kept"] != 2 || got["dead"] != 0 {
		t.Errorf("want 2 new articles: %v", got)
	}
	text, err := os.ReadFile(filepath.Join(dir, "mail/news.example/local.test.mbox"))
	if err != nil {
		t.Fatal(err)
	}
	for n := range 8 {
		if got := strings.Count(string(text), fmt.Sprintf("\n\nNumber %d\n>From the body\n.dots\n", n)); got != 1 {
			t.Errorf("article %d is in the mbox %d times", n, got)
		}
	}
	other, err := os.ReadFile(filepath.Join(dir, "mail/news.example/local.other.mbox"))
	if err != nil || strings.Count(string(other), "Number 5\n") != 1 {
		t.Errorf("cross-post in the other group: %q, %v", other, err)
	}
	boxes := t.TempDir()
	commandtest.Run(t, 0, "mirror", "--mailboxes", "maildir", "--delay", "0", "--output-dir", boxes,
		"--connect-to", "news.example:119:"+first.Addr, "nntp://news.example/local.test")
	delivered, err := filepath.Glob(filepath.Join(boxes, "mail/news.example/local.test/*/*"))
	if err != nil || len(delivered) != 6 {
		t.Errorf("the Maildir has %q, %v, want 6 messages", delivered, err)
	}
}

// TestMirrorFTP checks that a mirror does not follow symbolic links of an ftp
// server. It also checks commands that read the archive.
func TestMirrorFTP(t *testing.T) {
	t.Parallel()
	s := peer.Vsftpd(t, peer.FTPOptions{})
	s.Put("pub/a", []byte("a\n"))
	for name, to := range map[string]string{"pub/etc": "/etc", "pub/self": ".", "pub/link": "a"} {
		if err := os.Symlink(to, filepath.Join(s.Root, name)); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	commandtest.Run(t, 0, "mirror", "--output-dir", dir, "ftp://"+s.Addr+"/pub/")
	files := commandtest.Archived(t, dir)
	if len(files) != 2 { // the file and the listing
		t.Errorf("got %q", files)
	}
	commandtest.Run(t, 2, "mirror")
	commandtest.Run(t, 2, "mirror", "--output-dir", dir, "--scope", "galaxy", "ftp://"+s.Addr+"/pub/")
	commandtest.Run(t, 10, "mirror", "--max-files", "1", "--output-dir", t.TempDir(), "ftp://"+s.Addr+"/pub/")
	commandtest.Run(t, 3, "verify", t.TempDir())
	commandtest.Contains(t, commandtest.Run(t, 0, "frontier", "dump", dir), `"state":"done"`, "pub/a")
	commandtest.Contains(t, commandtest.Run(t, 0, "frontier", "status", dir), `"done": 2`)
	commandtest.Run(t, 0, "verify", dir)
	for name := range files {
		if strings.HasSuffix(name, "/a") {
			if err := os.WriteFile(name, []byte("b\n"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	commandtest.Contains(t, commandtest.Run(t, 11, "verify", dir), "pub/a: ")
}

// TestReplay fetches URLs from the WARC file of a mirror.
func TestReplay(t *testing.T) {
	t.Parallel()
	s := peer.Gophernicus(t, peer.GophernicusOptions{})
	s.Put("sub/x.txt", []byte("hello\n"))
	web := peer.Nginx(t, peer.NginxOptions{})
	web.Put("index.html", []byte(`<a href=page.html>`))
	web.Put("page.html", []byte("<p>a page"))
	dir := t.TempDir()
	menu := "gopher://" + s.Addr + "/"
	commandtest.Run(t, 0, "mirror", "--warc", "--no-tree", "--output-dir", dir, menu, "http://"+web.Addr+"/")
	names, err := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	commandtest.Contains(t, commandtest.Run(t, 0, "ls", "--urls", names[0]), menu, "/sub/x.txt", "/page.html")
	commandtest.Contains(t, commandtest.Run(t, 0, "ls", "--archive", names[0], menu), "menu ", "sub")
	commandtest.Contains(t, commandtest.Run(t, 0, "--archive", names[0], "gopher://"+s.Addr+"/0/sub/x.txt"), "hello")
	commandtest.Contains(t, commandtest.Run(t, 0, "--archive", names[0], "http://"+web.Addr+"/page.html"), "<p>a page")
	commandtest.Run(t, 8, "--archive", names[0], "http://"+web.Addr+"/none.html")
	index, err := os.ReadFile(filepath.Join(dir, "index/all.cdxj"))
	if err != nil || string(index) != commandtest.Run(t, 0, "index", names[0]) {
		t.Errorf("the index of the archive differs from the index of the file: %v", err)
	}
	wacz := filepath.Join(t.TempDir(), "x.wacz")
	commandtest.Run(t, 0, "pack", dir, "--wacz", wacz)
	commandtest.Contains(t, commandtest.Run(t, 0, "pack", dir, "--manifest"), "  warc/fetch-")
	commandtest.Run(t, 2, "pack", dir)
	commandtest.Run(t, 0, "verify", names[0])
	if info, err := os.Stat(wacz); err != nil || info.Size() == 0 {
		t.Errorf("no WACZ: %v", err)
	}
}

// TestMirrorCompressed checks that mirror --compressed decodes pages, stores
// compressed files as they were received, and downloads no unchanged object.
func TestMirrorCompressed(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := io.WriteString(z, "<a href=a.tgz>"); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	var bodies atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", `W/"1"`)
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Encoding", "x-gzip")
		if r.Header.Get("If-None-Match") == `W/"1"` {
			w.WriteHeader(304)
			return
		}
		bodies.Add(1)
		w.Write(packed.Bytes())
	}))
	defer server.Close()
	dir := t.TempDir()
	for range 2 {
		commandtest.Run(t, 0, "mirror", "--compressed", "--ignore-robots", "--output-dir", dir, server.URL+"/")
	}
	if n := bodies.Load(); n != 2 {
		t.Errorf("%d bodies were sent, want 2", n)
	}
	for name, text := range commandtest.Archived(t, dir) {
		if packs := strings.HasSuffix(name, ".tgz"); packs != (text == packed.String()) {
			t.Errorf("%s: %q", name, text)
		}
	}
}
