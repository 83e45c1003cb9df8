package commandtest

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
)

// RandomBytes returns n bytes that are the same in each call.
func RandomBytes(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{}).Read(b)
	return b
}

// ClosedPort returns the address of a port without a listener.
func ClosedPort(t peer.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Archived returns the contents of all files in the tree of an archive, keyed
// by file name.
func Archived(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(filepath.Join(dir, "tree"), func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		files[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// States counts the visits of a run in crawl.jsonl by their resulting state.
func States(t *testing.T, dir string, run int) map[string]int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "crawl.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for line := range strings.Lines(string(text)) {
		var e struct {
			Run   int
			State string
			Same  bool
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Run == run {
			n[e.State]++
		}
	}
	return n
}

// NewsItem returns article number n in the newsgroups.
func NewsItem(n int, groups string) string {
	return fmt.Sprintf("Path: test\r\nFrom: a@b.example\r\nNewsgroups: %s\r\nSubject: %d\r\nMessage-ID: <%d@test.example>\r\n"+
		"Date: Fri, 20 Nov 2026 10:00:00 +0000\r\n\r\nNumber %d\r\nFrom the body\r\n.dots\r\n", groups, n, n, n)
}

// MirrorOne mirrors one URL with a WARC file, verifies the archive, and returns
// the text of the WARC file.
func MirrorOne(t *testing.T, url string, args ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "archive")
	Run(t, 0, append(append([]string{"mirror", "--warc"}, args...), "--output-dir", dir, url)...)
	Run(t, 0, "verify", dir)
	files, err := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no WARC file: %v", err)
	}
	var all []byte
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	return string(all)
}

// Uncompressed returns the text of a gzip file.
func Uncompressed(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
