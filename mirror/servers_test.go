package mirror_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
)

// contextOfChild is the context of a process that only a signal ends.
var contextOfChild = context.Background()

// site is a server to be mirrored.
type site struct {
	Put        func(name string, data []byte) string
	Root, Addr string
	urls       []string
}

func siteOf(s *peer.Server, urls ...string) site { return site{s.Put, s.Root, s.Addr, urls} }

// sites starts real servers with the same files.
var sites = map[string]func(testing.TB) site{
	"http": func(t testing.TB) site {
		s := peer.Nginx(t, peer.NginxOptions{})
		addPages(s)
		return siteOf(s, "http://"+s.Addr+"/pub/")
	},
	"ftp": func(t testing.TB) site {
		s := peer.Vsftpd(t, peer.FTPOptions{})
		addSource(s.Put)
		return siteOf(s, "ftp://"+s.Addr+"/pub/")
	},
	"gopher": func(t testing.TB) site {
		s := peer.Pygopherd(t, peer.PygopherdOptions{})
		addSource(s.Put)
		return siteOf(s, "gopher://"+s.Addr+"/1/pub")
	},
	"file": func(t testing.TB) site {
		root := t.TempDir()
		put := func(name string, data []byte) string {
			name = filepath.Join(root, filepath.FromSlash(name))
			err := os.MkdirAll(filepath.Dir(name), 0o777)
			if err == nil {
				err = os.WriteFile(name, data, 0o666)
			}
			if err != nil {
				t.Fatal(err)
			}
			return name
		}
		addSource(put)
		return site{put, root, "", []string{"file://" + root + "/pub/"}}
	},
	"nntp": func(t testing.TB) site {
		s := peer.INN(t, peer.INNOptions{Groups: []string{"local.test", "local.other"}})
		for n := range 40 {
			s.Feed(posting(n, "local.test", strings.Repeat("a line of the body\r\n", 10*n)))
		}
		s.Feed(posting(100, "local.test,local.other", "to both\r\n"))
		return siteOf(s.Server, "nntp://"+s.Addr+"/local.test", "nntp://"+s.Addr+"/local.other")
	},
}

// posting returns an article.
func posting(n int, groups, body string) string {
	return fmt.Sprintf("Path: elsewhere.example.org!not-for-mail\r\nFrom: Alice <alice@example.org>\r\nNewsgroups: %s\r\n"+
		"Subject: number %d\r\nDate: Mon, 01 Jan 2024 00:00:00 +0000\r\nMessage-ID: <%d@example.org>\r\n\r\n%s", groups, n, n, body)
}

// source contains the files that the servers have below pub/.
var source = map[string]string{
	"pub/one.txt":       "the first\n",
	"pub/two.bin":       strings.Repeat("\x00\x01\xff\r\n", 5000),
	"pub/sub/three.txt": "third\n",
	"pub/sub/deep/4":    strings.Repeat("fourth\n", 100),
	"pub/copy":          strings.Repeat("\x00\x01\xff\r\n", 5000),
	"pub/large.bin":     strings.Repeat("more than is held in memory\n", 20000),
}

func addSource(put func(string, []byte) string) {
	for name, text := range source {
		put(name, []byte(text))
	}
}

// addPages adds pages that link to the files of source and to 200 small files.
func addPages(s *peer.Server) {
	var links strings.Builder
	for name, text := range source {
		s.Put(name, []byte(text))
		fmt.Fprintf(&links, "<a href=\"/%s\">", name)
	}
	for n := range 200 {
		name := fmt.Sprintf("pub/many/%d", n)
		s.Put(name, fmt.Appendf(nil, "number %d\n", n))
		fmt.Fprintf(&links, "<a href=\"/%s\">", name)
	}
	s.Put("pub/index.html", []byte("<html>"+links.String()))
}

// digests returns the sorted names of files with lengths and digests.
func digests(files map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "%s %d %x\n", name, len(files[name]), sha256.Sum256([]byte(files[name])))
	}
	return b.String()
}
