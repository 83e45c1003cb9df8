package main

import (
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
)

// TestDAV lists and mirrors a WebDAV server.
func TestDAV(t *testing.T) {
	s := peer.ApacheDAV(t)
	s.Put("dir/a b.txt", []byte("text\n"))
	s.Put("dir/sub/y", []byte("y"))
	t.Chdir(t.TempDir())
	contains(t, runFetch(t, 0, "ls", "--dav", "http://"+s.Addr+"/dir/"), "a b.txt", "sub")
	contains(t, runFetch(t, 0, "ls", "--urls", "dav://"+s.Addr+"/dir/"), "dav://"+s.Addr+"/dir/a%20b.txt")
	contains(t, runFetch(t, 0, "plan", "dav://"+s.Addr+"/dir/"), "PROPFIND /dir/")
	contains(t, runFetch(t, 0, "info", "dav://"+s.Addr+"/dir/sub/y"), `"size":1`)
	if got := runFetch(t, 0, "-r", "1-2", "dav://"+s.Addr+"/dir/a%20b.txt"); got != "ex" {
		t.Errorf("range: %q", got)
	}
	runFetch(t, 2, "ls", "--dav", "--native", "http://"+s.Addr+"/dir/")
	runFetch(t, 0, "mirror", "--warc", "--output-dir", "archive", "dav://"+s.Addr+"/dir/")
	runFetch(t, 0, "verify", "archive")
	contains(t, runFetch(t, 0, "ls", "--archive", "archive", "dav://"+s.Addr+"/dir/"), "sub")
}
