package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
)

// TestSMB uses each command with an SMB server.
func TestSMB(t *testing.T) {
	s := peer.Smbd(t)
	s.Put("dir/a b.txt", []byte("text\n"))
	s.Put("dir/sub/y", []byte("y"))
	t.Chdir(t.TempDir())
	root := "smb://" + s.Addr
	contains(t, runFetch(t, 0, "ls", root+"/"), "files", "private")
	contains(t, runFetch(t, 0, "ls", root+"/files/dir/"), "a b.txt", "sub")
	contains(t, runFetch(t, 0, "ls", "-R", root+"/files/dir/"), "/files/dir/sub/:")
	contains(t, runFetch(t, 0, "find", root+"/files/", "--name", "y"), "sub/y")
	contains(t, runFetch(t, 0, "info", root+"/files/dir/sub/y"), `"size":1`)
	contains(t, runFetch(t, 0, "plan", root+"/files/dir/sub/y"), `CREATE dir\sub\y`)
	runFetch(t, 0, "-O", "--warc-file", "x.warc.gz", root+"/files/dir/sub/y")
	if got := readTestFile(t, "y"); string(got) != "y" {
		t.Errorf("%q", got)
	}
	contains(t, runFetch(t, 0, "-r", "1-2", root+"/files/dir/a%20b.txt"), "ex")
	runFetch(t, 11, "-o", "z", "--checksum", "md5=00000000000000000000000000000000", root+"/files/dir/sub/y")
	runFetch(t, 0, "-u", peer.User+":"+peer.Password, "-o", "z", root+"/private/dir/sub/y")
	runFetch(t, 6, "-u", peer.User+":wrong", root+"/private/dir/sub/y")
	runFetch(t, 8, root+"/files/none")
	for range 2 { // the second run finds unchanged files
		runFetch(t, 0, "mirror", "--warc", "--output-dir", "archive", root+"/files/dir/")
	}
	found := ""
	filepath.WalkDir("archive/tree", func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(filepath.ToSlash(path), "files/dir/sub/y") {
			found = path
		}
		return err
	})
	if found == "" || string(readTestFile(t, found)) != "y" {
		t.Errorf("mirror: %q", found)
	}
	runFetch(t, 0, "verify", "archive")
}
