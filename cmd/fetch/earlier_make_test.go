package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/peer"
)

// archiveForms maps the name of each form of an archive to the flags that
// select it.
var archiveForms = map[string][]string{
	"tree": {"--mailboxes", "mbox"},
	"warc": {"--warc", "--no-tree", "--mailboxes", "maildir"},
	"both": {"--warc", "--mailboxes", "mbox"},
}

// An earlierVersion is a version that has generated archives in testdata/earlier.
type earlierVersion struct {
	folder string
	layout int      // layout of the trees
	names  []string // files on the servers
}

// earlierVersions are the versions whose archives every later version reads.
var earlierVersions = []earlierVersion{
	{"testdata/earlier/47b3165", 1, []string{"one.txt", "sub/two.txt", ".git/config", "-rf"}},
	{"testdata/earlier/10f1def", 2, []string{"one.txt", "sub/two.txt", ".git/config", "-rf", "name with space.txt"}},
}

// earlierServers are the servers whose files the archives contain. The mirrors
// map constant host names and ports to the servers.
type earlierServers struct {
	earlierVersion
	web, ftp, gopher *peer.Server
	news             *peer.News
}

// earlierTime is the modification time of all files of the servers.
var earlierTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func startEarlier(t testing.TB, v earlierVersion) *earlierServers {
	s := &earlierServers{
		earlierVersion: v,
		web:            peer.Nginx(t, peer.NginxOptions{}),
		ftp:            peer.Vsftpd(t, peer.FTPOptions{Config: []string{"force_dot_files=YES"}}),
		gopher: peer.Gophernicus(t, peer.GophernicusOptions{Args: []string{
			"-h", "gopher.test", "-p", "70", "-nh", "-nf"}}),
		news: peer.INN(t, peer.INNOptions{Groups: []string{"local.test"}}),
	}
	s.put(t)
	for n := range 3 {
		s.news.Feed(commandtest.NewsItem(n, "local.test"))
	}
	return s
}

// put writes the files of all servers. The listings also contain the files
// more.
func (s *earlierServers) put(t testing.TB, more ...string) {
	links := slices.Concat(s.names, more)
	page, menu := "<title>pub</title>\n", ""
	for _, name := range links {
		page += "<a href=\"" + name + "\">" + name + "</a>\n"
		if !strings.HasPrefix(name, ".") { // gophernicus does not serve hidden files
			menu += "0" + name + "\t/pub/" + name + "\n"
		}
		for _, server := range []*peer.Server{s.web, s.ftp, s.gopher} {
			s.write(t, server, "pub/"+name, "contents of "+name+"\n")
		}
	}
	s.write(t, s.web, "pub/index.html", page)
	s.write(t, s.gopher, "pub/gophermap", menu)
	s.setTimes(t)
	if len(more) > 0 { // the page has changed, so it gets another time and validator
		later := earlierTime.Add(time.Hour)
		if err := os.Chtimes(filepath.Join(s.web.Root, "pub/index.html"), later, later); err != nil {
			t.Fatal(err)
		}
		s.news.Feed(commandtest.NewsItem(100, "local.test"))
	}
}

func (s *earlierServers) write(t testing.TB, server *peer.Server, name, text string) {
	if err := os.Chtimes(server.Put(name, []byte(text)), earlierTime, earlierTime); err != nil {
		t.Fatal(err)
	}
}

// setTimes sets the modification times of the folders, which ftp listings
// contain.
func (s *earlierServers) setTimes(t testing.TB) {
	err := filepath.WalkDir(s.ftp.Root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return os.Chtimes(path, earlierTime, earlierTime)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// mirror returns the arguments of a command that mirrors the servers into dir.
func (s *earlierServers) mirror(dir string, form []string) []string {
	args := append([]string{"mirror", "--delay", "0", "--output-dir", dir}, form...)
	for host, addr := range map[string]string{"http.test:80": s.web.Addr, "ftp.test:21": s.ftp.Addr,
		"gopher.test:70": s.gopher.Addr, "news.test:119": s.news.Addr} {
		args = append(args, "--connect-to", host+":"+addr)
	}
	return append(args, "http://http.test/pub/", "ftp://ftp.test/pub/", "gopher://gopher.test/1/pub",
		"nntp://news.test/local.test")
}

// TestMakeEarlier generates the archives of a version in testdata/earlier with
// the binary at $FETCH_EARLIER. The base name of the binary ends in the commit.
func TestMakeEarlier(t *testing.T) {
	binary := os.Getenv("FETCH_EARLIER")
	if binary == "" {
		t.Skip("FETCH_EARLIER names no binary")
	}
	at := slices.IndexFunc(earlierVersions, func(v earlierVersion) bool {
		return strings.HasSuffix(binary, filepath.Base(v.folder))
	})
	if at < 0 {
		t.Fatalf("%s is no binary of an earlier version", binary)
	}
	v := earlierVersions[at]
	command := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(binary, append([]string{"--no-config"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v: %s", args, err, out)
		}
	}
	s := startEarlier(t, v)
	for name, form := range archiveForms {
		dir := filepath.Join(t.TempDir(), name)
		command(s.mirror(dir, form)...)
		command("verify", dir)
		if name == "both" {
			command("pack", dir, "--wacz", filepath.Join(v.folder, "archive.wacz"))
		}
		if err := packTar(filepath.Join(v.folder, name+".tar.gz"), dir); err != nil {
			t.Fatal(err)
		}
	}
}

func packTar(name, dir string) error {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(z)
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		head := &tar.Header{Name: filepath.ToSlash(rel), Mode: 0o644, Size: int64(len(text)), ModTime: info.ModTime(),
			Format: tar.FormatPAX}
		if err := w.WriteHeader(head); err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(name, b.Bytes(), 0o644)
}

// unpack unpacks an archive into a new folder.
func (v earlierVersion) unpack(t testing.TB, name string) (dir string) {
	dir = t.TempDir()
	f, err := os.Open(filepath.Join(v.folder, name+".tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		head, err := r.Next()
		if err == io.EOF {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(head.Name))
		text, err := io.ReadAll(r)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o755)
		}
		if err == nil {
			err = os.WriteFile(path, text, 0o644)
		}
		if err == nil {
			err = os.Chtimes(path, head.ModTime, head.ModTime)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
