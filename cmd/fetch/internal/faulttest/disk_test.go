//go:build linux

package faulttest

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

// readOnlyArchive checks that an archive can be read on a read-only medium. An
// archive whose run did not end cannot, because SQLite must restore its log.
func readOnlyArchive(t *testing.T, l *lab) {
	out := commandtest.Folder(t)
	e := commandtest.RunInMount(t, l.fetch, "100m", `
		"$1" -q mirror --warc --min-free 0 --output-dir a `+serve(t).URL+`/5; rm a/lock
		"$1" -q mirror --warc --min-free 0 --output-dir b `+serve(t).URL+`/5; : >b/fetch.db-wal
		mount -o remount,ro "$2"
		"$1" -q verify a; echo verify $?
		"$1" -q frontier status a | grep -c '"captures": 2,'
		"$1" -q mirror --dry-run --output-dir a >`+out+`/plan; echo dry-run $?
		"$1" pack --wacz `+out+`/a.wacz a 2>&1 | grep -c 'no page'
		"$1" -q verify b; echo verify $?`)
	if want := "verify 0\n1\ndry-run 0\n0\nverify 3\n"; e.Stdout != want || !strings.Contains(e.Stderr, "reading needs write permission") {
		t.Errorf("%v: %q; want %q", e, e.Stdout, want)
	}
}

// fullDisk checks that a download larger than the free space fails and leaves
// no file. With -C - it leaves a partial file, which the next attempt resumes
// when the disk has room.
func fullDisk(t *testing.T, l *lab) {
	s := serve(t)
	url := s.URL + "/20000000"
	e := commandtest.RunInMount(t, l.fetch, "12m", `
		echo old >out
		"$1" -o out `+url+`; echo exit $?, $(ls -A), $(cat out)
		"$1" -o new -o other `+url+` `+s.URL+`/5; echo exit $?, $(ls -A), $(stat -c %s other)
		"$1" -C - -o new `+url+`; echo exit $?, $(ls -A)
		mount -o remount,size=50m "$2"
		"$1" -C - -v -o new `+url+` 2>&1 | sed -n 's/^> Range: bytes=8[0-9]*-/resumed after 8 MiB/p'
		echo $(ls -A), $(sha256sum <new)`)
	want := fmt.Sprintf(`exit 3, out, old
exit 3, other out, 5
exit 3, .new.part .new.part.state other out
resumed after 8 MiB
new other out, %x -
`, sha256.Sum256(s.body("/20000000")))
	if e.Stdout != want || strings.Count(e.Stderr, "no space left on device\n") != 3 {
		t.Errorf("%v\ngot\n%s\nwant\n%s", e, e.Stdout, want)
	}
	if n := s.requests.Load(); n != 5 {
		t.Errorf("got %d requests, want one for each URL", n)
	}
	if e := l.run(t, "-q", "-o", "/dev/full", s.URL+"/5"); e.Code != 3 {
		t.Errorf("/dev/full: %v", e)
	}
}

// failingCalls injects an error into one system call on the output file, the
// partial file, the state file or the folder. The output file must be unchanged
// unless the partial file was renamed already. No other files may remain,
// except the partial file and the state file with -C -.
func failingCalls(t *testing.T, l *lab) {
	for _, c := range []struct {
		on, call, err string
		nth           int // number of the call within one thread
		requests      int // number of requests to the server
		message       string
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
		if c.on == ".out.part.new" && c.requests > 0 {
			object = "/9000000" // large enough for a checkpoint
		}
		for _, resume := range []bool{false, true} {
			if resume && c.on == "out" || !resume && c.on == ".out.part.new" {
				continue // this mode makes no such call
			}
			name := fmt.Sprintf("%s of %s on %s, number %d, resumable %v", c.err, c.call, c.on, c.nth, resume)
			t.Run(name, func(t *testing.T) {
				s := serve(t)
				dir := commandtest.Folder(t)
				out := filepath.Join(dir, "out")
				args := []string{"-q", "-o", out, s.URL + object}
				before := "old"
				if resume {
					before, args = "", append(args, "-C", "-")
				} else {
					commandtest.Put(t, out, before)
				}
				on := strings.TrimSuffix(dir+"/"+c.on, "/.")
				e, log := l.strace(t, []string{"-P", on, "-e", "trace=" + c.call,
					"-e", fmt.Sprintf("inject=%s:error=%s:when=%d", c.call, c.err, c.nth)}, args...)
				if len(c.on) < 2 && commandtest.Content(t, out) != before {
					before = string(s.body(object)) // the file was renamed before the error
				}
				if e.Code != 3 || !strings.Contains(e.Stderr, c.message) || int(s.requests.Load()) != c.requests ||
					e.Duration > 10*time.Second {
					t.Errorf("%v, %d requests, want exit code 3, %q and %d requests\n%s", e, s.requests.Load(),
						c.message, c.requests, strings.Join(log, "\n"))
				}
				if commandtest.Content(t, out) != before {
					t.Errorf("unexpected contents of %d bytes", len(commandtest.Content(t, out)))
				}
				remaining := strings.Fields(commandtest.FileNames(t, dir))
				if resume {
					remaining = slices.DeleteFunc(remaining,
						func(n string) bool { return n == ".out.part" || n == ".out.part.state" })
				}
				if len(remaining) > 1 || len(remaining) == 1 && remaining[0] != "out" {
					t.Errorf("unexpected files %q", remaining)
				}
				if e := l.run(t, args...); e.Code != 0 || commandtest.Content(t, out) != string(s.body(object)) ||
					commandtest.FileNames(t, dir) != "out" {
					t.Errorf("next attempt: %v, %d bytes, files %s", e, len(commandtest.Content(t, out)), commandtest.FileNames(t, dir))
				}
			})
		}
	}
}

// callOrder checks the order of the system calls of a download. The contents
// are synced before the partial file is renamed to the output file. The folder
// is synced after the rename. The state file is replaced only after the bytes
// that it describes are synced.
func callOrder(t *testing.T, l *lab) {
	s := serve(t)
	dir := commandtest.Folder(t)
	out := filepath.Join(dir, "out")
	var paths []string
	for _, name := range []string{".", "out", ".out.part", ".out.part.new", ".out.part.state"} {
		paths = append(paths, "-P", filepath.Join(dir, name))
	}
	e, log := l.strace(t, append(paths, "-y", "-e", "trace=write,fsync,renameat,renameat2,unlinkat"), "-q", "-C", "-",
		"-o", out, s.URL+"/9000000")
	var order []string
	for _, line := range log {
		line = strings.ReplaceAll(line, dir, "DIR")
		for _, step := range []struct{ is, pattern string }{
			{"write", `write\(\d+<DIR/.out.part>`},
			{"write state", `write\(\d+<DIR/.out.part.new>`},
			{"sync", `fsync\(\d+<DIR/.out.part>\) += 0`},
			{"sync folder", `fsync\(\d+<DIR>\) += 0`},
			{"rename state", `renameat\(.*"DIR/.out.part.new".*"DIR/.out.part.state"\) += 0`},
			{"publish", `renameat2\(.*"DIR/.out.part".*"DIR/out", RENAME_NOREPLACE\) += 0`},
		} {
			if regexp.MustCompile(step.pattern).MatchString(line) &&
				(len(order) == 0 || order[len(order)-1] != step.is) {
				order = append(order, step.is)
			}
		}
	}
	want := "write, sync, write state, rename state, write, sync, publish, sync folder"
	if got := strings.Join(order, ", "); e.Code != 0 || got != want {
		t.Errorf("%v: got %s\nwant %s\n%s", e, got, want, strings.Join(log, "\n"))
	}
}
