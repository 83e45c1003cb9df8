package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/faultnet"
	"github.com/anyurl/fetch/internal/peer"
	"github.com/anyurl/fetch/internal/waistest"
	"github.com/anyurl/fetch/internal/z3950"
	"github.com/anyurl/fetch/warc"
)

// TestMirrorWarcio checks that warcio reads each record of an archive with all
// schemes, and that its index is identical to the index of the archive.
func TestMirrorWarcio(t *testing.T) {
	t.Parallel()
	node, cli := peer.NeedModule(t, "warcio@2.4.11", "warcio", "dist/cli.js")
	seeds := startEveryScheme(t)
	dir := t.TempDir()
	args := append([]string{"mirror", "--warc", "--record-unchanged", "--insecure-auth", "--output-dir", dir}, seeds...)
	runFetch(t, 8, args...) // none.html does not exist
	runFetch(t, 8, args...) // records unchanged URLs
	runFetch(t, 0, "verify", dir)
	files, err := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	n, schemes := countRecords(t, files)
	if want := []string{"file", "ftp", "gopher", "http", "imap", "news", "nntp", "wais"}; !slices.Equal(schemes, want) {
		t.Errorf("records of %q, want %q", schemes, want)
	}
	var external []string
	for _, name := range files {
		n -= strings.Count(runExternal(t, node, cli, "index", name), "\n")
		external = append(external, strings.SplitAfter(runExternal(t, node, cli, "cdx-index", name), "\n")...)
	}
	if n != 0 {
		t.Errorf("warcio reads %d records fewer than package warc", n)
	}
	slices.Sort(external)
	index, err := os.ReadFile(filepath.Join(dir, "index/all.cdxj"))
	if all := strings.Join(external, ""); err != nil || all != string(index) {
		t.Errorf("index of warcio:\n%sindex of the archive:\n%s%v", all, index, err)
	}
}

// startEveryScheme starts a server for each scheme that mirror supports. It
// returns the seeds.
func startEveryScheme(t *testing.T) []string {
	t.Helper()
	long := strings.Repeat("text that is long enough for a revisit record\n", 30)
	web := peer.Nginx(t, peer.NginxOptions{})
	web.Put("index.html", []byte("<a href=a.txt>a</a> <a href=b.txt>b</a> <a href=none.html>none</a> <img src=c.png>"))
	web.Put("a.txt", []byte(long))
	web.Put("b.txt", []byte(long))
	web.Put("c.png", randomBytes(3000))
	gopher := peer.Pygopherd(t, peer.PygopherdOptions{})
	gopher.Put("a.txt", []byte(long))
	gopher.Put("a.txt.abstract", []byte("About it.\n"))
	gopher.Put("sub/b.txt", []byte("b\n"))
	ftp := peer.Vsftpd(t, peer.FTPOptions{})
	ftp.Put("pub/a b", []byte(long))
	ftp.Put("pub/empty", nil)
	news := peer.INN(t, peer.INNOptions{})
	for n := range 3 {
		news.Feed(newsItem(n, "local.test"))
	}
	mail := peer.Dovecot(t, peer.DovecotOptions{})
	mail.Add(peer.User, "INBOX", "From: a@b.example\r\nMessage-ID: <one@test.example>\r\n\r\nhello\r\n")
	text := waistest.NewText("/data/songs.txt", "Songs of whales", "The humpback whale sings.\n")
	sea := &waistest.Database{Documents: []*waistest.Document{text}, Rank: func(*z3950.Query) []waistest.Hit {
		return []waistest.Hit{{Document: text, Score: z3950.Some(1000)}}
	}}
	wais := faultnet.Listen(t, faultnet.Script{(&waistest.Server{Databases: map[string]*waistest.Database{"sea": sea}}).Step()})
	disk := t.TempDir()
	if err := os.WriteFile(filepath.Join(disk, "c"), []byte(long), 0o666); err != nil {
		t.Fatal(err)
	}
	return []string{
		"http://" + web.Addr + "/", "gopher://" + gopher.Addr + "/", "ftp://" + ftp.Addr + "/pub/",
		"nntp://" + news.Addr + "/local.test", "imap://" + peer.User + ":" + peer.Password + "@" + mail.Addr + "/INBOX",
		"wais://" + wais.Addr().String() + "/sea?whale", "file://" + disk + "/",
	}
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
