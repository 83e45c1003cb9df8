//go:build linux

package faulttest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

// twoProcesses starts pairs of processes that write different bodies to the
// same file. The file must be equal to one of the bodies. The other process
// must report that the file is in use.
func twoProcesses(t *testing.T, l *lab) {
	s := serve(t)
	objects := []string{"/2000000", "/x2000000"}
	busy := 0
	for n := range l.pairs {
		dir := commandtest.Folder(t)
		out := filepath.Join(dir, "out")
		var both []*commandtest.Process
		for _, o := range objects {
			args := []string{"-q", "-o", out, s.URL + o}
			if n%2 == 1 {
				args = append(args, "-C", "-", "--strict")
			}
			both = append(both, commandtest.Start(t, exec.Command(l.fetch, args...)))
		}
		busy += waitForWinner(t, s, out, both, objects)
	}
	t.Logf("%d of %d pairs collided", busy, l.pairs)
	if busy < l.pairs/4 {
		t.Errorf("%d of %d pairs collided: too few", busy, l.pairs)
	}
}

// fiftyProcesses starts 50 processes that write to the same file.
func fiftyProcesses(t *testing.T, l *lab) {
	s := serve(t)
	out := filepath.Join(commandtest.Folder(t), "out")
	commandtest.Put(t, out, "old")
	var all []*commandtest.Process
	var objects []string
	for n := range 50 {
		objects = append(objects, fmt.Sprintf("/%s%d", strings.Repeat("x", n%2), 1_000_000+n*16))
		all = append(all, commandtest.Start(t, exec.Command(l.fetch, "-q", "-o", out, s.URL+objects[n])))
	}
	if busy := waitForWinner(t, s, out, all, objects); busy == 0 {
		t.Error("no processes collided")
	}
}

// waitForWinner waits for processes that write the objects to the file out. It
// returns the number of processes that found the file in use.
func waitForWinner(t *testing.T, s *site, out string, all []*commandtest.Process, objects []string) (busy int) {
	t.Helper()
	var won []string
	for i, p := range all {
		switch e := p.Wait(t); {
		case e.Code == 0:
			won = append(won, string(s.body(objects[i])))
		case e.Code == 3 && strings.Contains(e.Stderr, "being written by another process"):
			busy++
		case e.Code == 3 && (strings.Contains(e.Stderr, "exists") || strings.Contains(e.Stderr, "no state")):
			// --strict rejects the file if another process has finished it.
		default:
			t.Error(e)
		}
	}
	if contents := commandtest.Content(t, out); len(won) == 0 || !slices.Contains(won, contents) {
		t.Errorf("%d processes succeeded, the file has %d bytes of another body", len(won), len(contents))
	}
	if remaining := commandtest.FileNames(t, filepath.Dir(out)); remaining != "out" {
		t.Errorf("unexpected files %q", remaining)
	}
	return busy
}

// outputTargets checks that fetch rejects unsuitable output files before it
// sends a request.
func outputTargets(t *testing.T, l *lab) {
	unprivileged := &syscall.SysProcAttr{}
	if os.Geteuid() == 0 {
		unprivileged.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	for _, c := range []struct {
		name     string
		out      string // path in the folder
		make     func(path string) error
		flags    string
		code     int
		message  string
		requests int64
	}{
		{name: "new file", out: "out", requests: 1},
		{name: "existing file", out: "out", make: file, requests: 1},
		{name: "directory", out: "out", make: mkdir, code: 3, message: "is a directory"},
		{name: "name with a trailing slash", out: "out/", code: 3, message: "is a directory"},
		{name: "link to a directory", out: "out", make: linkTo("."), code: 3, message: "is a directory"},
		{name: "circular link", out: "out", make: linkTo("out"), code: 3, message: "symbolic links"},
		{name: "link to a file", out: "out", make: linkTo("real"), requests: 1},
		{name: "missing folder", out: "none/out", code: 3, message: "none: no such file"},
		{name: "file in place of the folder", out: "made/out",
			make: func(path string) error { return file(filepath.Dir(path)) }, code: 3, message: "not a directory"},
		{name: "longest name", out: strings.Repeat("x", 255), requests: 1},
		{name: "name longer than the limit", out: strings.Repeat("x", 256), code: 3, message: "name too long"},
		{name: "socket", out: "out", make: socket, code: 3, message: "no such device"},
		{name: "FIFO", out: "out", make: fifo, requests: 1},
		{name: "directory in place of the partial file", out: "out",
			make: func(path string) error { return mkdir(part(path)) }, code: 3, message: "is not a regular file"},
		{name: "partial file in use", out: "out", make: lock, code: 3, message: "another process"},
		{name: "read-only file", out: "out", make: func(path string) error { return os.WriteFile(path, nil, 0o444) },
			code: 3, message: "permission denied"},
		{name: "read-only folder", out: "closed/out",
			make: func(path string) error { return os.Mkdir(filepath.Dir(path), 0o555) }, code: 3,
			message: "permission denied"},
		{name: "existing file with --skip-existing", out: "out", make: file, flags: "--skip-existing", requests: 0},
		{name: "existing file without state, with --strict", out: "out", make: file, flags: "--strict -C -", code: 3,
			message: "no state"},
		{name: "missing folder of the metadata file", out: "out", flags: "--meta none/meta", code: 3,
			message: "no such file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t)
			dir := commandtest.Folder(t)
			if err := os.Chmod(dir, 0o777); err != nil {
				t.Fatal(err)
			}
			path := dir + "/" + c.out
			if c.make != nil {
				if err := c.make(path); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command(l.fetch, append([]string{"-q", "-o", path, s.URL + "/100"},
				strings.Fields(c.flags)...)...)
			cmd.SysProcAttr = unprivileged
			if strings.HasPrefix(c.name, "read-only") || os.Geteuid() != 0 {
				cmd.Dir = dir
			} else {
				cmd.SysProcAttr = nil
			}
			before := listing(t, dir)
			e := commandtest.Exec(t, cmd)
			if e.Code != c.code || !strings.Contains(e.Stderr, c.message) || s.requests.Load() != c.requests {
				t.Errorf("%v, %d requests, want exit code %d, %q and %d requests", e, s.requests.Load(), c.code,
					c.message, c.requests)
			}
			if after := listing(t, dir); c.requests == 0 && after != before {
				t.Errorf("the folder changed to\n%s\nfrom\n%s", after, before)
			}
			if c.requests == 1 && c.name != "FIFO" && commandtest.Content(t, path) != string(s.body("/100")) {
				t.Errorf("got %q", commandtest.Content(t, path))
			}
		})
	}
	t.Run("read-only disk", func(t *testing.T) {
		s := serve(t)
		e := commandtest.RunInMount(t, l.fetch, "1m", `mount -o remount,ro "$2"; "$1" -q -o out `+s.URL+`/5; echo exit $?, $(ls -A)`)
		if e.Stdout != "exit 3,\n" || !strings.Contains(e.Stderr, "read-only file system") || s.requests.Load() > 0 {
			t.Errorf("%v: %s", e, e.Stdout)
		}
	})
}

func file(path string) error  { return os.WriteFile(path, []byte("old"), 0o644) }
func mkdir(path string) error { return os.Mkdir(path, 0o755) }
func part(path string) string { return filepath.Dir(path) + "/." + filepath.Base(path) + ".part" }

func linkTo(to string) func(path string) error {
	return func(path string) error { return os.Symlink(to, path) }
}

func socket(path string) error {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return err
	}
	l.SetUnlinkOnClose(false)
	return l.Close()
}

// fifo creates a FIFO and starts a process that reads it to the end.
func fifo(path string) error {
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		return err
	}
	return exec.Command("/bin/sh", "-c", `cat "$1" >/dev/null & sleep 0`, "sh", path).Run()
}

// lock locks the partial file of path until the test process ends.
func lock(path string) error {
	f, err := os.OpenFile(part(path), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
}

// listing returns the names, modes and sizes of all files in a folder.
func listing(t *testing.T, dir string) (all string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		all += fmt.Sprintf("%s %v %d\n", info.Name(), info.Mode(), info.Size())
	}
	return all
}
