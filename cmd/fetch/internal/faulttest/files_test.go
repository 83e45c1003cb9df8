//go:build linux

package faulttest

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/peer"
)

// fileLimit runs 60 parallel downloads with small limits of open files. From 12
// files on, all downloads must succeed. Below, fetch may fail with an error
// that names the limit. The Go runtime does not start with fewer than nine
// files.
func fileLimit(t *testing.T, l *lab) {
	prlimit := peer.Need(t, "prlimit", "util-linux")
	s := serve(t)
	var list strings.Builder
	for n := range 60 {
		fmt.Fprintf(&list, "%s/%d\n", s.URL, 1000+n)
	}
	urls := filepath.Join(commandtest.Folder(t), "list")
	commandtest.Put(t, urls, list.String())
	for limit := 9; limit <= 64; limit = limit*5/4 + 1 {
		dir := commandtest.Folder(t)
		c := exec.Command(prlimit, fmt.Sprintf("--nofile=%d:%d", limit, limit), l.fetch, "-q", "-Z",
			"--output-dir", dir, "--input-file", urls)
		e := commandtest.Exec(t, c)
		files := strings.Fields(commandtest.FileNames(t, dir))
		t.Logf("limit of %d files: exit code %d after %v, %d files, %.80q", limit, e.Code, e.Duration, len(files),
			e.Stderr)
		if e.Code != 0 && e.Code != 3 || limit >= 12 && e.Code != 0 {
			t.Errorf("limit of %d files: %v", limit, e)
		}
		for _, name := range files {
			if commandtest.Content(t, filepath.Join(dir, name)) != string(s.body("/"+name)) {
				t.Errorf("limit of %d files: unexpected contents of %s, %d bytes", limit, name,
					len(commandtest.Content(t, filepath.Join(dir, name))))
			}
		}
		if e.Code == 0 && len(files) != 60 || e.Code != 0 && !strings.Contains(e.Stderr, "too many open files") {
			t.Errorf("limit of %d files: %v, %d files", limit, e, len(files))
		}
	}
}

// outputOrder checks that parallel downloads to standard output are written one
// after the other. The bodies are larger than the buffers, and there are more
// of them than parallel requests per host.
func outputOrder(t *testing.T, l *lab) {
	s := serve(t)
	args, want := []string{"-q", "-Z"}, ""
	for n := range 24 {
		object := fmt.Sprintf("/%d", 500_000-n)
		args, want = append(args, s.URL+object), want+string(s.body(object))
	}
	for range 4 {
		if e := l.run(t, args...); e.Code != 0 || e.Stdout != want {
			t.Errorf("%v, got %d bytes, want %d in order", e, len(e.Stdout), len(want))
		}
	}
}
