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

// TestIPFS uses each command with a trustless gateway.
func TestIPFS(t *testing.T) {
	big := bytes.Repeat([]byte("0123456789"), 100_000)
	s := peer.BoxoGateway(t, func(dir string) {
		for name, text := range map[string][]byte{"dir/big": big, "dir/a b.txt": []byte("text\n"), "dir/sub/y": []byte("y")} {
			name = filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, text, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("IPFS_GATEWAY", "http://127.0.0.1:9/") // the flag overrides it
	root := "ipfs://" + s.CIDs["raw"]
	with := func(args ...string) []string { return append(args, "--ipfs-gateway", "http://"+s.Addr) }
	contains(t, runFetch(t, 0, with("ls", "-l", root+"/dir/")...), "1000000", "big", "a b.txt", "sub")
	contains(t, runFetch(t, 0, with("info", root+"/dir/big")...), `"size":1000000`, `"kind":"document"`)
	contains(t, runFetch(t, 0, with("plan", root+"/dir/big")...), "GET /ipfs/"+s.CIDs["raw"]+"/dir/big?format=car&dag-scope=entity")
	if got := runFetch(t, 0, with("-r", "3-5", root+"/dir/big")...); got != "345" {
		t.Errorf("range: %q", got)
	}
	runFetch(t, 0, with("-O", "--warc-file", "x.warc.gz", root+"/dir/big")...)
	if got := readTestFile(t, "big"); !bytes.Equal(got, big) {
		t.Errorf("%d bytes", len(got))
	}
	contains(t, runFetch(t, 0, "ls", "x.warc.gz"), root+"/dir/big")
	runFetch(t, 0, with("-C", "600000", "-o", "rest", root+"/dir/big")...)
	if got := readTestFile(t, "rest"); len(got) != 400_000 {
		t.Errorf("rest: %d bytes", len(got))
	}
	// An identifier in base58 is replaced, because archives do not keep its case.
	for _, url := range []string{root + "/dir/", "ipfs://" + s.CIDs["v0"] + "/dir/"} {
		dir := t.TempDir()
		runFetch(t, 0, with("mirror", "--warc", "--output-dir", dir, url)...)
		found := ""
		filepath.WalkDir(filepath.Join(dir, "tree"), func(path string, _ os.DirEntry, err error) error {
			if strings.HasSuffix(filepath.ToSlash(path), "/dir/sub/y") {
				found = path
			}
			return err
		})
		if found == "" || string(readTestFile(t, found)) != "y" {
			t.Errorf("mirror of %s: %q", url, found)
		}
		runFetch(t, 0, "verify", dir)
		for part := range strings.SplitSeq(filepath.ToSlash(found), "/") {
			if strings.HasPrefix(part, "bafy") {
				url = "ipfs://" + part + "/dir/"
			}
		}
		contains(t, runFetch(t, 0, "ls", "--archive", dir, url), "sub", "big")
		if got := runFetch(t, 0, "--archive", dir, url+"sub/y"); got != "y" {
			t.Errorf("%s from the archive: %q", url, got)
		}
	}
	t.Setenv("IPFS_GATEWAY", "http://"+s.Addr)
	if got := runFetch(t, 0, "-L", "ipfs://"+s.CIDs["v0"]+"/dir/sub/y"); got != "y" {
		t.Errorf("gateway of the environment: %q", got)
	}
	runFetch(t, 8, root+"/none")
	runFetch(t, 2, "--ipfs-gateway", "x", root+"/")
	runFetch(t, 2, "ipfs://x/")
	runFetch(t, 12, "ipns://example.org/")
	t.Setenv("IPFS_GATEWAY", "")
	_, stderr := runFetchStderr(t, 2, root+"/")
	contains(t, stderr, "no gateway", "--ipfs-gateway URL")
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", root+"/dir/big")
		w.WriteHeader(302)
	}))
	defer page.Close()
	runFetch(t, 9, with(page.URL)...)
}

// TestIPFSDamage receives a block that differs from its identifier: no file is
// written.
func TestIPFSDamage(t *testing.T) {
	t.Chdir(t.TempDir())
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("format") == "car" {
			w.WriteHeader(http.StatusNotImplemented)
			return
		}
		w.Header().Set("Content-Type", "application/vnd.ipld.raw")
		w.Write([]byte("other"))
	}))
	defer s.Close()
	root := "ipfs://bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku" // the empty block
	_, stderr := runFetchStderr(t, 11, "--ipfs-gateway", s.URL, "-o", "out", root)
	contains(t, stderr, "wrong bytes")
	if all, err := filepath.Glob("*"); err != nil || len(all) != 0 {
		t.Errorf("files %q, %v", all, err)
	}
}
