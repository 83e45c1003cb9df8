package mirror_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/prospertest"
	"github.com/anyurl/fetch/internal/test/short"
	"github.com/anyurl/fetch/internal/test/waistest"
	"github.com/anyurl/fetch/mirror"
)

// TestSite checks links in sitemaps, header fields and meta elements, and the
// sitemaps of robots.txt.
func TestSite(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		site webSite
		want string
	}{
		"sitemap": {webSite{"/d/": "", "/robots.txt": "User-agent: *\nDisallow: /d/no\nSitemap: http://a.example/map.xml\nsitemap : /none.xml\nSitemap: http://b.example/map.xml\n",
			"/map.xml":  `<sitemapindex><sitemap><loc>http://a.example/map2.xml</loc></sitemap></sitemapindex>`,
			"/map2.xml": `<urlset><url><loc>http://a.example/d/in</loc></url><url><loc>http://a.example/out</loc></url><url><loc>http://a.example/d/no</loc></url></urlset>`,
			"/d/in":     "in", "/d/no": "no", "/out": "out"}, "/d/ /d/in /map.xml /map2.xml /none.xml"},
		"sitemap with an internationalized host": {webSite{"/d/": "", "/robots.txt": "Sitemap: http://Ａ.example/map.xml\n", "/map.xml": `<urlset><url><loc>http://Ａ.example/d/in</loc></url></urlset>`, "/d/in": ""}, "/d/ /d/in /map.xml"},
		"refresh":                                {webSite{"/d/": `<meta http-equiv=refresh content="5; url=next">`, "/d/next": "n"}, "/d/ /d/next"},
		"frames":                                 {webSite{"/d/": `<frameset><frame src=f></frameset><iframe src=g></iframe>`, "/d/f": `<a href=h>`, "/d/g": "", "/d/h": ""}, "/d/ /d/f /d/g /d/h"},
		"form":                                   {webSite{"/d/": `<form action=search><input name=q></form>`}, "/d/"},
		"nofollow":                               {webSite{"/d/": `<a rel=nofollow href=x><a href=y>`, "/d/y": `<meta name=robots content=nofollow><a href=z>`, "/d/x": ""}, "/d/ /d/x /d/y"},
		"base element":                           {webSite{"/d/": `<base href="/d/e/"><a href=x>`, "/d/e/x": ""}, "/d/ /d/e/x"},
		"repeated link":                          {webSite{"/d/": `<a href=x><a href=./x#part><a href=/d/y/../x><a href="HTTP://A.example:80/d/x">`, "/d/x": ""}, "/d/ /d/x"},
		"invalid links":                          {webSite{"/d/": `<a href="http://[::1/"><a href="http://a.example:99999/"><a href="%zz"><a href=x>`, "/d/x": ""}, "/d/ /d/%25zz /d/x"},
		"srcset":                                 {webSite{"/d/": `<img srcset="a.png 1x, b.png 2x">`, "/d/a.png": "", "/d/b.png": ""}, "/d/ /d/a.png /d/b.png"},
		"CSS import":                             {webSite{"/d/": `<style>@import "s.css"</style>`, "/d/s.css": `p { background: url('b.png') }`, "/d/b.png": ""}, "/d/ /d/b.png /d/s.css"},
		"autoindex page": {webSite{"/d/": "<html><head><title>Index of /d/</title></head><body><h1>Index of /d/</h1><hr><pre><a href=\"../\">../</a>\n" +
			"<a href=\"x\">x</a>                 20-Nov-2026 10:00       1\n</pre><hr></body></html>", "/d/x": "x"}, "/d/ /d/x"},
	} {
		t.Run(name, func(t *testing.T) {
			short.Sample(t, 6)
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				w.web("a.example", c.site)
				o := w.options("http://a.example/d/")
				for range 2 {
					run(t, o)
					if got := strings.ReplaceAll(w.requests(), "http://a.example/", "/"); got != c.want {
						t.Errorf("requests:\n%s\nwant:\n%s", got, c.want)
					}
				}
				checkVerify(t, o.Dir)
			})
		})
	}
}

// TestIndexes checks that the results of a WAIS search and the files of a
// Prospero directory are retrieved.
func TestIndexes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		at := w.name("w.example")
		notes := &waistest.Server{Host: "w.example:210", Databases: map[string]*waistest.Database{"notes": {Documents: []*waistest.Document{
			waistest.NewText("/srv/wais/data/a.txt", "About tea", "tea is a drink\n"), waistest.NewText("/srv/wais/data/b.txt", "More tea", strings.Repeat("tea and more tea\n", 40000)),
			waistest.NewText("/srv/wais/data/c.txt", "Coffee", "coffee\n"),
			waistest.NewDocument("/srv/wais/data/tea.src", "A database of tea", "WSRC", "(:source :database-name"),
		}}}}
		w.net.Serve(at.String()+":210", faultnet.Script{notes.Step()})
		p := prospertest.NewServer("P.EXAMPLE")
		p.Add(prospertest.Object{Name: "AFTP/pub", Target: "DIRECTORY"})
		p.Add(prospertest.Object{Name: "AFTP/pub/one.txt", Target: "FILE", Contents: []byte("the first\n")})
		p.Add(prospertest.Object{Name: "AFTP/pub/sub", Target: "DIRECTORY"})
		p.Add(prospertest.Object{Name: "AFTP/pub/sub/two.txt", Target: "FILE", Contents: []byte("the second\n")})
		w.net.ServePackets(w.name("p.example").String()+":1525", faultnet.Packets{Answer: p.Answer})
		o := w.options("wais://w.example/notes?tea", "prospero://p.example/AFTP/pub")
		o.Scope.Reach = mirror.Host
		sum := run(t, o)
		bodies := map[string]bool{}
		for _, text := range tree(t, o.Dir, "") {
			bodies[text] = true
		}
		for _, want := range []string{"tea is a drink\n", "(:source :database-name", strings.Repeat("tea and more tea\n", 40000), "the first\n", "the second\n"} {
			if !bodies[want] {
				t.Errorf("%.20q is missing", want)
			}
		}
		if bodies["coffee\n"] || sum.Failed > 0 {
			t.Errorf("%+v\n%s", sum, outcomes(t, o.Dir))
		}
		checkVerify(t, o.Dir)
		if sum := run(t, o); sum.New > 0 {
			t.Errorf("again: %+v", sum)
		}
	})
}

// TestMailbox checks that messages are retrieved once and written to an mbox
// file.
func TestMailbox(t *testing.T) {
	t.Parallel()
	s := peer.Dovecot(t, peer.DovecotOptions{})
	message := func(n int) string {
		return fmt.Sprintf("From: a@b.example\r\nTo: c@d.example\r\nSubject: %d\r\nDate: Fri, 20 Nov 2026 10:00:00 +0000\r\nMessage-ID: <%d@b.example>\r\n\r\nNumber %d\r\nFrom here\r\n", n, n, n)
	}
	for n := range 3 {
		s.Add(peer.User, "INBOX", message(n))
	}
	o := options(t, "imap://"+peer.User+":"+peer.Password+"@"+s.Addr+"/INBOX")
	o.Mail = mirror.Mbox
	if sum := run(t, o); sum.New != 4 || sum.Failed > 0 { // with the listing
		t.Errorf("%+v\n%s", sum, outcomes(t, o.Dir))
	}
	s.Add(peer.User, "INBOX", message(3))
	if sum := run(t, o); sum.New != 2 || sum.Unchanged != 0 {
		t.Errorf("with a new article: %+v\n%s", sum, outcomes(t, o.Dir))
	}
	boxes, err := filepath.Glob(filepath.Join(o.Dir, "mail/*/*.mbox"))
	if err != nil || len(boxes) != 1 {
		t.Fatal(boxes, err)
	}
	text, err := os.ReadFile(boxes[0])
	for n := range 4 {
		if got := strings.Count(string(text), fmt.Sprintf("\n\nNumber %d\n>From here\n", n)); got != 1 || err != nil {
			t.Errorf("message %d is in the mbox %d times, %v", n, got, err)
		}
	}
	if all, err := os.ReadFile(filepath.Join(o.Dir, "fetch.db")); err != nil || strings.Contains(string(all), peer.Password) {
		t.Errorf("the password is in the database, %v", err)
	}
	checkVerify(t, o.Dir)
	for _, lost := range []string{"mail", "crawl.jsonl"} { // in addition to the database
		remove(t, o.Dir, "fetch.db*", lost)
		recoverArchive(t, o)
		if sum := run(t, o); sum.New > 0 || sum.Gone > 0 {
			t.Errorf("recovered without %s: %+v\n%s", lost, sum, outcomes(t, o.Dir))
		}
		lines := func(text string) string { return sortedLines(strings.Split(text, "\n")) } // the order may change
		if got := content(t, boxes[0]); lines(got) != lines(string(text)) {
			t.Errorf("recovered without %s: the mailbox has changed: %s", lost, differ(got, string(text)))
		}
		checkVerify(t, o.Dir)
	}
}

// TestAttributes checks that the attributes of a Gopher+ item are retrieved
// too.
func TestAttributes(t *testing.T) {
	t.Parallel()
	s := peer.Pygopherd(t, peer.PygopherdOptions{})
	s.Put("pub/one.txt", []byte("the first\n"))
	s.Put("pub/one.txt.abstract", []byte("what one is about\n"))
	o := options(t, "gopher://"+s.Addr+"/1/pub%09%09+")
	run(t, o)
	found := 0
	for name, text := range tree(t, o.Dir, "") {
		if strings.Contains(text, "+ABSTRACT") && strings.Contains(text, "what one is about") && strings.Contains(name, "one.txt") {
			found++
		}
	}
	if found != 1 {
		t.Errorf("%d files with attributes\n%s", found, outcomes(t, o.Dir))
	}
	checkVerify(t, o.Dir)
}

// TestEmptyMenu checks that an empty menu does not replace an earlier menu,
// because it may be a lost response.
func TestEmptyMenu(t *testing.T) {
	t.Parallel()
	s := peer.Pygopherd(t, peer.PygopherdOptions{})
	one := s.Put("pub/one.txt", []byte("the first\n"))
	o := options(t, "gopher://"+s.Addr+"/1/pub")
	run(t, o)
	before := tree(t, o.Dir, "")
	if err := os.Remove(one); err != nil {
		t.Fatal(err)
	}
	if sum := run(t, o); sum.New != 0 {
		t.Errorf("%d new", sum.New)
	}
	after := tree(t, o.Dir, "")
	if got, want := fmt.Sprint(after), fmt.Sprint(before); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if log, err := os.ReadFile(filepath.Join(o.Dir, "crawl.jsonl")); err != nil || !strings.Contains(string(log), "without sending data") {
		t.Errorf("no note in %s, %v", log, err)
	}
	checkVerify(t, o.Dir)
}

// TestOwnFolder checks that an archive in the mirrored folder does not copy
// itself.
func TestOwnFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("text"), 0o666); err != nil {
		t.Fatal(err)
	}
	o := options(t, "file://"+dir+"/")
	o.Dir = filepath.Join(dir, "my archive")
	for range 2 {
		run(t, o)
		files := tree(t, o.Dir, "file/localhost"+dir)
		if len(files) != 2 || files["a"] != "text" {
			t.Errorf("got %q, want a listing and a file", files)
		}
	}
	checkVerify(t, o.Dir)
}
