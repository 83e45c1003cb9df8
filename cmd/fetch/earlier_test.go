package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/peer"
)

// earlier holds archives that an earlier version made.
const earlier = "testdata/earlier/47b3165"

// archiveForms are the flags for the forms of an archive.
var archiveForms = map[string][]string{
	"tree": {"--mailboxes", "mbox"},
	"warc": {"--warc", "--no-tree", "--mailboxes", "maildir"},
	"both": {"--warc", "--mailboxes", "mbox"},
}

// earlierServers are the servers that the archives were made from. A route
// gives them hosts and ports that never change.
type earlierServers struct {
	web, ftp, gopher *peer.Server
	news             *peer.News
}

// earlierTime is the modification time of all files of the servers.
var earlierTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func startEarlier(t testing.TB) *earlierServers {
	s := &earlierServers{
		web:    peer.Nginx(t, peer.NginxOptions{}),
		ftp:    peer.Vsftpd(t, peer.FTPOptions{Config: []string{"force_dot_files=YES"}}),
		gopher: peer.Gophernicus(t, peer.GophernicusOptions{Args: []string{"-h", "gopher.test", "-p", "70", "-nh", "-nf"}}),
		news:   peer.INN(t, peer.INNOptions{Groups: []string{"local.test"}}),
	}
	s.put(t, "")
	for n := range 3 {
		s.news.Feed(newsItem(n, "local.test"))
	}
	return s
}

// put writes the files of all servers. The listings name another file, unless
// that is "".
func (s *earlierServers) put(t testing.TB, another string) {
	links := []string{"one.txt", "sub/two.txt", ".git/config", "-rf"}
	if another != "" {
		links = append(links, another)
	}
	page, menu := "<title>pub</title>\n", ""
	for _, name := range links {
		page += "<a href=\"" + name + "\">" + name + "</a>\n"
		if !strings.HasPrefix(name, ".") { // which gophernicus refuses to serve
			menu += "0" + name + "\t/pub/" + name + "\n"
		}
		for _, on := range []*peer.Server{s.web, s.ftp, s.gopher} {
			s.write(t, on, "pub/"+name, "contents of "+name+"\n")
		}
	}
	s.write(t, s.web, "pub/index.html", page)
	s.write(t, s.gopher, "pub/gophermap", menu)
	s.age(t)
	if another != "" { // the page has changed, and so have its time and its validator
		later := earlierTime.Add(time.Hour)
		if err := os.Chtimes(filepath.Join(s.web.Root, "pub/index.html"), later, later); err != nil {
			t.Fatal(err)
		}
		s.news.Feed(newsItem(100, "local.test"))
	}
}

func (s *earlierServers) write(t testing.TB, on *peer.Server, name, text string) {
	if err := os.Chtimes(on.Put(name, []byte(text)), earlierTime, earlierTime); err != nil {
		t.Fatal(err)
	}
}

// age sets the times of the folders, which listings of ftp show.
func (s *earlierServers) age(t testing.TB) {
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

// mirror returns the arguments of a mirror of the servers into dir.
func (s *earlierServers) mirror(dir string, form []string) []string {
	args := append([]string{"mirror", "--delay", "0", "--output-dir", dir}, form...)
	for host, addr := range map[string]string{"http.test:80": s.web.Addr, "ftp.test:21": s.ftp.Addr, "gopher.test:70": s.gopher.Addr, "news.test:119": s.news.Addr} {
		args = append(args, "--connect-to", host+":"+addr)
	}
	return append(args, "http://http.test/pub/", "ftp://ftp.test/pub/", "gopher://gopher.test/1/pub", "nntp://news.test/local.test")
}

// TestMakeEarlier makes the archives of testdata/earlier by the binary that
// $FETCH_EARLIER names.
func TestMakeEarlier(t *testing.T) {
	binary := os.Getenv("FETCH_EARLIER")
	if binary == "" {
		t.Skip("FETCH_EARLIER names no binary")
	}
	command := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(binary, append([]string{"--no-config"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v: %s", args, err, out)
		}
	}
	s := startEarlier(t)
	for name, form := range archiveForms {
		dir := filepath.Join(t.TempDir(), name)
		command(s.mirror(dir, form)...)
		command("verify", dir)
		if name == "both" {
			command("pack", dir, "--wacz", filepath.Join(earlier, "archive.wacz"))
		}
		if err := packTar(filepath.Join(earlier, name+".tar.gz"), dir); err != nil {
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
		head := &tar.Header{Name: filepath.ToSlash(rel), Mode: 0o644, Size: int64(len(text)), ModTime: info.ModTime(), Format: tar.FormatPAX}
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

// unpackEarlier unpacks an archive into a new folder.
func unpackEarlier(t testing.TB, name string) (dir string) {
	dir = t.TempDir()
	f, err := os.Open(filepath.Join(earlier, name+".tar.gz"))
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

// visited are the outcomes of the visits of a run, by their URLs.
func visited(t *testing.T, dir string, run int) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "crawl.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for line := range strings.Lines(string(text)) {
		var e struct {
			Run        int
			URL, State string
			Same       bool
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Run != run {
			continue
		}
		if found[e.URL] = e.State; e.Same {
			found[e.URL] += " same"
		}
	}
	return found
}

// TestEarlierContinues continues the archives of an earlier version: what did
// not change is unchanged, a new file is added, and nothing else.
func TestEarlierContinues(t *testing.T) {
	t.Parallel()
	s := startEarlier(t)
	s.put(t, "sub/new.txt")
	const news = "news://news.test/"
	want := map[string]string{
		"http://http.test/robots.txt": "excluded", "http://http.test/pub/": "done",
		"ftp://ftp.test/pub/": "done same", "ftp://ftp.test/pub/sub/": "done", "ftp://ftp.test/pub/.git/": "done same",
		"gopher://gopher.test/1/pub":  "done",
		"nntp://news.test/local.test": "done", news + "100@test.example": "kept",
	}
	for _, name := range []string{"one.txt", "sub/two.txt", ".git/config", "-rf", "sub/new.txt"} {
		state := "done same"
		if name == "sub/new.txt" {
			state = "done"
		}
		for _, at := range []string{"http://http.test/pub/", "ftp://ftp.test/pub/"} {
			want[at+name] = state
		}
		if name[0] != '.' {
			want["gopher://gopher.test/0/pub/"+name] = state
		}
	}
	for name, form := range archiveForms {
		dir := unpackEarlier(t, name)
		before := archivedBelow(t, dir)
		fetchAs(t, 0, "verify", dir)
		contains(t, fetchAs(t, 0, "frontier", "dump", dir), `"gopher://gopher.test/0/pub/-rf"`)
		fetchAs(t, 0, s.mirror(dir, form)...)
		fetchAs(t, 0, "verify", dir)
		got := visited(t, dir, 2)
		for u, state := range want {
			if got[u] != state {
				t.Errorf("%s: %s is %q, want %q", name, u, got[u], state)
			}
			delete(got, u)
		}
		if len(got) > 0 {
			t.Errorf("%s: visited too: %q", name, got)
		}
		if name == "warc" {
			continue
		}
		for file, text := range archivedBelow(t, dir) {
			if old, ok := before[file]; ok || strings.HasSuffix(file, "/new.txt") || strings.Contains(file, "100@test.example") {
				if ok && text != old && !isListingFile(file) {
					t.Errorf("%s: %s has changed: %q", name, file, text)
				}
				continue
			}
			t.Errorf("%s: %s is new", name, file)
		}
		if n := len(archivedBelow(t, dir)); n != len(before)+4 {
			t.Errorf("%s: %d files in the tree, want %d and four new ones", name, n, len(before))
		}
	}
}

func isListingFile(name string) bool {
	base := filepath.Base(name)
	return base == "index.html" || base == ".listing" || base == ".gophermap" || base == ".overview"
}

// archivedBelow is archived with paths below dir.
func archivedBelow(t *testing.T, dir string) map[string]string {
	if _, err := os.Stat(filepath.Join(dir, "tree")); err != nil {
		return nil
	}
	files := map[string]string{}
	for name, text := range archived(t, dir) {
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.ToSlash(rel)] = text
	}
	return files
}

// TestEarlierAnswers reads the archives of an earlier version: their records
// answer URLs, and a WACZ file of them is verified.
func TestEarlierAnswers(t *testing.T) {
	t.Parallel()
	wacz := filepath.Join(earlier, "archive.wacz")
	fetchAs(t, 0, "verify", wacz)
	for _, from := range []string{wacz, unpackEarlier(t, "warc"), unpackEarlier(t, "both")} {
		for _, u := range []string{"http://http.test/pub/-rf", "ftp://ftp.test/pub/-rf", "gopher://gopher.test/0/pub/-rf"} {
			if got := strings.TrimRight(fetchAs(t, 0, "--archive", from, u), "\r\n."); got != "contents of -rf" {
				t.Errorf("%s: %s: %q", from, u, got)
			}
		}
		contains(t, fetchAs(t, 0, "--archive", from, "news://news.test/1@test.example"), "Number 1\r\n")
		for _, u := range []string{"ftp://ftp.test/pub/", "gopher://gopher.test/1/pub"} {
			contains(t, fetchAs(t, 0, "--archive", from, "ls", u), "one.txt", "-rf")
		}
		contains(t, fetchAs(t, 0, "--archive", from, "ls", "--json", "nntp://news.test/local.test"), "1@test.example")
		fetchAs(t, 8, "--archive", from, "http://http.test/pub/none")
	}
	dir := unpackEarlier(t, "both")
	files, err := filepath.Glob(filepath.Join(dir, "warc/*.warc.gz"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	fetchAs(t, 0, append([]string{"verify"}, files...)...)
	contains(t, fetchAs(t, 0, "ls", files[0]), "ftp://ftp.test/pub/one.txt")
	fetchAs(t, 0, "index", dir)
	again := filepath.Join(t.TempDir(), "again.wacz")
	fetchAs(t, 0, "pack", dir, "--wacz", again)
	fetchAs(t, 0, "verify", again, dir)
}

// TestEarlierConfig reads a config.toml that an earlier version took.
func TestEarlierConfig(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(earlier, "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	path := filepath.Join(home, "fetch/config.toml")
	if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
		err = os.WriteFile(path, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"plan", "http://h.example/"}, {"plan", "wais://w.example/d?q"}, {"mirror", "--help"}, {"uri", "parse", "http://h.example/"}} {
		var out, said bytes.Buffer
		if code := run(command, strings.NewReader(""), &out, &said); code != 0 || said.Len() > 0 {
			t.Errorf("%q: exit code %d: %s", command, code, &said)
		}
		if command[1] == "http://h.example/" && command[0] == "plan" {
			contains(t, out.String(), "User-Agent: from config", "X-One: 1", "X-Two: 2")
		}
	}
}
