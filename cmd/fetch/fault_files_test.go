//go:build linux

package main_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/peer"
)

// noFiles: a process that may have few files open does with them, as long as
// there is enough for one transfer; else it is an error of this side, and
// nothing is left. (With fewer than nine Go itself does not begin.)
func noFiles(t *testing.T, l *lab) {
	prlimit := peer.Need(t, "prlimit", "util-linux")
	s := serve(t)
	var list strings.Builder
	for n := range 60 {
		fmt.Fprintf(&list, "%s/%d\n", s.URL, 1000+n)
	}
	urls := filepath.Join(open(t), "list")
	put(t, urls, list.String())
	for limit := 9; limit <= 64; limit = limit*5/4 + 1 {
		dir := open(t)
		c := exec.Command(prlimit, fmt.Sprintf("--nofile=%d:%d", limit, limit), l.fetch, "-q", "-Z", "--output-dir", dir, "--input-file", urls)
		e := run(t, c)
		files := strings.Fields(names(t, dir))
		t.Logf("%d files: exit %d after %v, %d files, %.80q", limit, e.code, e.took, len(files), e.said)
		if e.code != 0 && e.code != 3 || limit >= 12 && e.code != 0 {
			t.Errorf("with %d files: %v", limit, e)
		}
		for _, name := range files {
			if content(t, filepath.Join(dir, name)) != string(s.body("/"+name)) {
				t.Errorf("with %d files: %s has %d bytes", limit, name, len(content(t, filepath.Join(dir, name))))
			}
		}
		if e.code == 0 && len(files) != 60 || e.code != 0 && !strings.Contains(e.said, "too many open files") {
			t.Errorf("with %d files: %v, %d files", limit, e, len(files))
		}
	}
}

// inOrder: bodies that come side by side are written one after the other,
// also where they are too large to be held back, and where there are more of
// them than their host is asked for at a time.
func inOrder(t *testing.T, l *lab) {
	s := serve(t)
	args, want := []string{"-q", "-Z"}, ""
	for n := range 24 {
		object := fmt.Sprintf("/%d", 500_000-n)
		args, want = append(args, s.URL+object), want+string(s.body(object))
	}
	for range 4 {
		if e := l.run(t, args...); e.code != 0 || e.stdout != want {
			t.Errorf("%v, %d bytes, want %d", e, len(e.stdout), len(want))
		}
	}
}
