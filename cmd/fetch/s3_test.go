package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
)

// TestS3 uses each command with an S3 server.
func TestS3(t *testing.T) {
	s := peer.Versitygw(t, "bucket")
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("AWS_ACCESS_KEY_ID", peer.User)
	t.Setenv("AWS_SECRET_ACCESS_KEY", peer.Password)
	big := bytes.Repeat([]byte("0123456789"), 100_000)
	for key, body := range map[string][]byte{"dir/big": big, "dir/a b.txt": []byte("text\n"), "dir/sub/y": []byte("y")} {
		name := filepath.Join(s.Root, "bucket", key)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, body, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	endpoint := []string{"--s3-endpoint", "http://" + s.Addr}
	with := func(args ...string) []string { return append(args, endpoint...) }
	contains(t, runFetch(t, 0, with("ls", "s3://bucket/dir/")...), "big", "a b.txt", "sub")
	contains(t, runFetch(t, 0, with("info", "s3://bucket/dir/big")...), `"size":1000000`, `"kind":"document"`)
	contains(t, runFetch(t, 0, with("plan", "s3://bucket/dir/big")...), "GET /bucket/dir/big")
	if got := runFetch(t, 0, with("-r", "3-5", "s3://bucket/dir/big")...); got != "345" {
		t.Errorf("range: %q", got)
	}
	runFetch(t, 0, with("-O", "--warc-file", "x.warc.gz", "s3://bucket/dir/big")...)
	if got := readTestFile(t, "big"); !bytes.Equal(got, big) {
		t.Errorf("%d bytes", len(got))
	}
	contains(t, runFetch(t, 0, "ls", "x.warc.gz"), "s3://bucket/dir/big")
	// The first 600,000 bytes are there already.
	runFetch(t, 0, with("-C", "600000", "-o", "rest", "s3://bucket/dir/big")...)
	if got := readTestFile(t, "rest"); len(got) != 400_000 {
		t.Errorf("rest: %d bytes", len(got))
	}
	runFetch(t, 0, with("mirror", "--warc", "--output-dir", "archive", "s3://bucket/dir/")...)
	found := ""
	filepath.WalkDir("archive/tree", func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(filepath.ToSlash(path), "bucket/dir/sub/y") {
			found = path
		}
		return err
	})
	if found == "" || string(readTestFile(t, found)) != "y" {
		t.Errorf("mirror: %q", found)
	}
	runFetch(t, 0, "verify", "archive")
	_, stderr := runFetchStderr(t, 6, with("--s3-anonymous", "s3://bucket/dir/big")...)
	contains(t, stderr, "AccessDenied")
	runFetch(t, 8, with("s3://bucket/none")...)
	runFetch(t, 2, "--s3-endpoint", "x", "s3://bucket/none")
	_, stderr = runFetchStderr(t, 0, with("-v", "-o", "out", "s3://bucket/dir/sub/y")...)
	if strings.Contains(stderr, "Signature=") {
		t.Errorf("-v prints the signature: %s", stderr)
	}
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "s3://bucket/dir/big")
		w.WriteHeader(302)
	}))
	defer page.Close()
	runFetch(t, 9, with(page.URL)...)
}
