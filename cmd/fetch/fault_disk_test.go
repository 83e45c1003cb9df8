//go:build linux

package main_test

import (
	"crypto/sha256"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/peer"
)

// inMount runs a script of /bin/sh in a mount name space of its own, with an
// empty tmpfs of the given size as its folder. $1 is fetch.
func (l *lab) inMount(t *testing.T, size, script string) ended {
	t.Helper()
	args := []string{"--mount", "--user", "--map-root-user", "/bin/sh", "-c",
		`set -e; mount -t tmpfs -o "size=$3" tmpfs "$2"; cd "$2"; set +e; ` + script, "sh", l.fetch, open(t), size}
	e := run(t, exec.Command(peer.Need(t, "unshare", "util-linux"), args...))
	if strings.Contains(e.said, "unshare:") || strings.Contains(e.said, "mount:") {
		t.Skipf("needs leave to make name spaces: %s", e.said)
	}
	return e
}

// fullDisk: a body that is larger than what is left of a disk ends at once
// and leaves nothing; with -C - it leaves what came, and goes on there when
// there is room.
func fullDisk(t *testing.T, l *lab) {
	s := serve(t)
	url := s.URL + "/20000000"
	e := l.inMount(t, "12m", `
		echo old >out
		"$1" -o out `+url+`; echo exit $?, $(ls -A), $(cat out)
		"$1" -o new -o other `+url+` `+s.URL+`/5; echo exit $?, $(ls -A), $(stat -c %s other)
		"$1" -C - -o new `+url+`; echo exit $?, $(ls -A)
		mount -o remount,size=50m "$2"
		"$1" -C - -v -o new `+url+` 2>&1 | sed -n 's/^> Range: bytes=8[0-9]*-/continued behind 8 MiB/p'
		echo $(ls -A), $(sha256sum <new)`)
	want := fmt.Sprintf(`exit 3, out, old
exit 3, other out, 5
exit 3, .new.part .new.part.state other out
continued behind 8 MiB
new other out, %x -
`, sha256.Sum256(s.body("/20000000")))
	if e.stdout != want || strings.Count(e.said, "no space left on device\n") != 3 {
		t.Errorf("%v\ngot\n%s\nwant\n%s", e, e.stdout, want)
	}
	if n := s.requests.Load(); n != 5 {
		t.Errorf("%d requests, want one for each URL that was asked for", n)
	}
	if e := l.run(t, "-q", "-o", "/dev/full", s.URL+"/5"); e.code != 3 {
		t.Errorf("/dev/full: %v", e)
	}
}

// failingCalls: one system call on the file to be, its part, its state or its
// folder fails. The file is what it was, unless it had its name already, and
// nothing else is there but, with -C -, what the next attempt goes on with.
func failingCalls(t *testing.T, l *lab) {
	for _, c := range []struct {
		on, call, err string
		nth           int // of the calls of one thread
		asks          int // requests that are made
		says          string
	}{
		{".out.part", "openat", "ENOSPC", 1, 0, "no space left"},
		{".out.part", "openat", "EDQUOT", 1, 0, "quota exceeded"},
		{".out.part", "openat", "EROFS", 1, 0, "read-only file system"},
		{".out.part", "openat", "EMFILE", 1, 0, "too many open files"},
		{".out.part", "flock", "EIO", 1, 0, "input/output error"},
		{".out.part", "flock", "ENOLCK", 1, 0, "no locks available"},
		{".out.part.new", "openat", "ENOSPC", 1, 0, "no space left"},
		{".out.part", "write", "ENOSPC", 1, 1, "no space left"},
		{".out.part", "write", "ENOSPC", 2, 1, "no space left"},
		{".out.part", "write", "EDQUOT", 2, 1, "quota exceeded"},
		{".out.part", "write", "EIO", 2, 1, "input/output error"},
		{".out.part", "write", "EFBIG", 2, 1, "file too large"},
		{".out.part", "fsync", "EIO", 1, 1, "input/output error"},
		{".out.part", "fsync", "ENOSPC", 1, 1, "no space left"},
		{".out.part", "renameat,renameat2", "EXDEV", 1, 1, "cross-device link"},
		{".out.part", "renameat,renameat2", "ENOSPC", 1, 1, "no space left"},
		{".out.part", "renameat,renameat2", "EIO", 1, 1, "input/output error"},
		{"out", "openat", "EROFS", 1, 0, "read-only file system"},
		{".", "fsync", "EIO", 1, 1, "input/output error"},
		{"", "openat", "EMFILE", 1, 1, "too many open files"},
		{".out.part.new", "write", "ENOSPC", 1, 1, "no space left"},
		{".out.part.new", "renameat", "EIO", 1, 1, "input/output error"},
	} {
		object := "/1000000"
		if c.on == ".out.part.new" && c.asks > 0 {
			object = "/9000000" // there is a checkpoint in it
		}
		for _, resume := range []bool{false, true} {
			if resume && c.on == "out" || !resume && c.on == ".out.part.new" {
				continue // there is no such call
			}
			name := fmt.Sprintf("%s of %s on %s, number %d, resumable %v", c.err, c.call, c.on, c.nth, resume)
			t.Run(name, func(t *testing.T) {
				s := serve(t)
				dir := open(t)
				out := filepath.Join(dir, "out")
				args := []string{"-q", "-o", out, s.URL + object}
				before := "old"
				if resume {
					before, args = "", append(args, "-C", "-")
				} else {
					put(t, out, before)
				}
				on := strings.TrimSuffix(dir+"/"+c.on, "/.")
				e, log := l.strace(t, []string{"-P", on, "-e", "trace=" + c.call,
					"-e", fmt.Sprintf("inject=%s:error=%s:when=%d", c.call, c.err, c.nth)}, args...)
				if len(c.on) < 2 && content(t, out) != before {
					before = string(s.body(object)) // only its name may be lost with the power
				}
				if e.code != 3 || !strings.Contains(e.said, c.says) || int(s.requests.Load()) != c.asks || e.took > 10*time.Second {
					t.Errorf("%v, %d requests, want exit 3, %q and %d\n%s", e, s.requests.Load(), c.says, c.asks, strings.Join(log, "\n"))
				}
				if content(t, out) != before {
					t.Errorf("the file holds %d bytes", len(content(t, out)))
				}
				left := strings.Fields(names(t, dir))
				if resume {
					left = slices.DeleteFunc(left, func(n string) bool { return n == ".out.part" || n == ".out.part.state" })
				}
				if len(left) > 1 || len(left) == 1 && left[0] != "out" {
					t.Errorf("left %q", left)
				}
				if e := l.run(t, args...); e.code != 0 || content(t, out) != string(s.body(object)) || names(t, dir) != "out" {
					t.Errorf("the next attempt: %v, %d bytes, %s", e, len(content(t, out)), names(t, dir))
				}
			})
		}
	}
}

// callOrder: the bytes are on the disk before the part gets the name of the
// file, and the name before we claim success; a state only after the bytes
// that it vouches for.
func callOrder(t *testing.T, l *lab) {
	s := serve(t)
	dir := open(t)
	out := filepath.Join(dir, "out")
	var paths []string
	for _, name := range []string{".", "out", ".out.part", ".out.part.new", ".out.part.state"} {
		paths = append(paths, "-P", filepath.Join(dir, name))
	}
	e, log := l.strace(t, append(paths, "-y", "-e", "trace=write,fsync,renameat,renameat2,unlinkat"), "-q", "-C", "-", "-o", out, s.URL+"/9000000")
	var order []string
	for _, line := range log {
		line = strings.ReplaceAll(line, dir, "DIR")
		for _, step := range []struct{ is, pattern string }{
			{"write", `write\(\d+<DIR/.out.part>`},
			{"write state", `write\(\d+<DIR/.out.part.new>`},
			{"sync", `fsync\(\d+<DIR/.out.part>\) += 0`},
			{"sync folder", `fsync\(\d+<DIR>\) += 0`},
			{"keep state", `renameat\(.*"DIR/.out.part.new".*"DIR/.out.part.state"\) += 0`},
			{"publish", `renameat2\(.*"DIR/.out.part".*"DIR/out", RENAME_NOREPLACE\) += 0`},
		} {
			if regexp.MustCompile(step.pattern).MatchString(line) && (len(order) == 0 || order[len(order)-1] != step.is) {
				order = append(order, step.is)
			}
		}
	}
	want := "write, sync, write state, keep state, write, sync, publish, sync folder"
	if got := strings.Join(order, ", "); e.code != 0 || got != want {
		t.Errorf("%v: got %s\nwant %s\n%s", e, got, want, strings.Join(log, "\n"))
	}
}
