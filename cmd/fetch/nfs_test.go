package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
)

// TestNFS lists, downloads, resumes and mirrors files of nfs-ganesha.
func TestNFS(t *testing.T) {
	s := peer.Ganesha(t)
	s.Put("motd", []byte("hello\n"))
	s.Put("sub/x", []byte("deep\n"))
	if err := os.Symlink("/etc/passwd", filepath.Join(s.Root, "outside")); err != nil {
		t.Fatal(err)
	}
	mount := "--nfs-mount-port=" + strconv.Itoa(int(s.Port+1))
	url := "nfs://" + s.Addr
	root := url + s.Root + "/"
	contains(t, runFetch(t, 0, "ls", mount, url+"/"), s.Root+"\n")
	contains(t, runFetch(t, 0, "ls", mount, root), " motd\n", " sub", "info ")
	if got := runFetch(t, 0, mount, root+"motd"); got != "hello\n" {
		t.Errorf("got %q", got)
	}
	if got := runFetch(t, 0, mount, "-r", "1-2", root+"motd"); got != "el" {
		t.Errorf("range: got %q", got)
	}
	file := filepath.Join(t.TempDir(), "motd")
	runFetch(t, 0, mount, "-o", file, root+"motd")
	runFetch(t, 0, mount, "-C", "-", "-o", file, root+"motd")
	contains(t, runFetch(t, 0, "info", mount, root+"motd"), `"size":6`, `"proto":"NFSv3"`)
	contains(t, runFetch(t, 0, "plan", root+"motd"), "getattr public file handle (else mount)\n")
	contains(t, runFetch(t, 0, "help", "nfs"), "RFC 2224")
	runFetch(t, 0, mount, "--nfs-user", "0:0", root+"motd")
	runFetch(t, 2, mount, "--nfs-user", "root", root+"motd")
	runFetch(t, 2, mount, root+"a%2Fb")
	runFetch(t, 8, mount, root+"none")
	runFetch(t, 8, mount, root+"outside")

	dir := filepath.Join(t.TempDir(), "archive")
	runFetch(t, 0, "mirror", "--warc", mount, "--output-dir", dir, root)
	var got []string
	filepath.WalkDir(filepath.Join(dir, "tree"), func(path string, d os.DirEntry, err error) error {
		if text, _ := os.ReadFile(path); strings.HasSuffix(string(text), "\n") && len(text) < 10 {
			got = append(got, d.Name()+" "+string(text))
		}
		return err
	})
	if warcs, _ := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz")); strings.Join(got, "") != "motd hello\nx deep\n" || len(warcs) == 0 {
		t.Errorf("the mirror has %q, and the WARC files %v", got, warcs)
	}
	runFetch(t, 0, "verify", dir)
	if got := runFetch(t, 0, "--archive", dir, root+"sub/x"); got != "deep\n" {
		t.Errorf("archive: got %q", got)
	}
	contains(t, runFetch(t, 0, "ls", "--archive", dir, root), " motd\n")
}
