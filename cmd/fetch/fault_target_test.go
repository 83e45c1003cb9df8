//go:build linux

package main_test

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
)

// pairs: two processes that want one file at one time do not mix what they
// bring: it is that of one of them, whole, and who came too late says so.
func pairs(t *testing.T, l *lab) {
	s := serve(t)
	objects := []string{"/2000000", "/x2000000"}
	busy := 0
	for n := range l.pairs {
		dir := open(t)
		out := filepath.Join(dir, "out")
		var both []*process
		for _, o := range objects {
			args := []string{"-q", "-o", out, s.URL + o}
			if n%2 == 1 {
				args = append(args, "-C", "-", "--strict")
			}
			both = append(both, start(t, exec.Command(l.fetch, args...)))
		}
		busy += oneWins(t, s, out, both, objects)
	}
	t.Logf("%d of %d pairs met", busy, l.pairs)
	if busy < l.pairs/4 {
		t.Errorf("%d of %d pairs met: too few to tell anything", busy, l.pairs)
	}
}

// crowd: the same with fifty at a time.
func crowd(t *testing.T, l *lab) {
	s := serve(t)
	out := filepath.Join(open(t), "out")
	put(t, out, "old")
	var all []*process
	var objects []string
	for n := range 50 {
		objects = append(objects, fmt.Sprintf("/%s%d", strings.Repeat("x", n%2), 1_000_000+n*16))
		all = append(all, start(t, exec.Command(l.fetch, "-q", "-o", out, s.URL+objects[n])))
	}
	if busy := oneWins(t, s, out, all, objects); busy == 0 {
		t.Error("no two of them met")
	}
}

// oneWins waits for processes that bring objects to one file, and returns how
// many found it in use.
func oneWins(t *testing.T, s *site, out string, all []*process, objects []string) (busy int) {
	t.Helper()
	var won []string
	for i, p := range all {
		switch e := p.wait(t); {
		case e.code == 0:
			won = append(won, string(s.body(objects[i])))
		case e.code == 3 && strings.Contains(e.said, "being written by another process"):
			busy++
		case e.code == 3 && strings.Contains(e.said, "exists"), e.code == 3 && strings.Contains(e.said, "no state"): // with --strict, behind the other
		default:
			t.Error(e)
		}
	}
	if held := content(t, out); len(won) == 0 || !slices.Contains(won, held) {
		t.Errorf("%d have won, the file holds %d bytes of none of them", len(won), len(held))
	}
	if left := names(t, filepath.Dir(out)); left != "out" {
		t.Errorf("left %q", left)
	}
	return busy
}

// targets: what cannot become the file is refused before anything is sent.
func targets(t *testing.T, l *lab) {
	nobody := &syscall.SysProcAttr{}
	if os.Geteuid() == 0 {
		nobody.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	for _, c := range []struct {
		name  string
		out   string // in the folder
		make  func(path string) error
		flags string
		code  int
		says  string
		asks  int64
	}{
		{name: "new", out: "out", asks: 1},
		{name: "file", out: "out", make: file, asks: 1},
		{name: "directory", out: "out", make: mkdir, code: 3, says: "is a directory"},
		{name: "name of a directory", out: "out/", code: 3, says: "is a directory"},
		{name: "link to a directory", out: "out", make: linkTo("."), code: 3, says: "is a directory"},
		{name: "links in a circle", out: "out", make: linkTo("out"), code: 3, says: "symbolic links"},
		{name: "link to a file", out: "out", make: linkTo("real"), asks: 1},
		{name: "no folder", out: "none/out", code: 3, says: "none: no such file"},
		{name: "a file for a folder", out: "made/out", make: func(path string) error { return file(filepath.Dir(path)) }, code: 3, says: "not a directory"},
		{name: "long name", out: strings.Repeat("x", 255), asks: 1},
		{name: "longer name", out: strings.Repeat("x", 256), code: 3, says: "name too long"},
		{name: "socket", out: "out", make: socket, code: 3, says: "no such device"},
		{name: "FIFO", out: "out", make: fifo, asks: 1},
		{name: "directory for a part", out: "out", make: func(path string) error { return mkdir(part(path)) }, code: 3, says: "in the way"},
		{name: "part in use", out: "out", make: lock, code: 3, says: "another process"},
		{name: "read-only file", out: "out", make: func(path string) error { return os.WriteFile(path, nil, 0o444) }, code: 3, says: "permission denied"},
		{name: "read-only folder", out: "closed/out", make: func(path string) error { return os.Mkdir(filepath.Dir(path), 0o555) }, code: 3, says: "permission denied"},
		{name: "not to be replaced", out: "out", make: file, flags: "--skip-existing", asks: 0},
		{name: "unverified, strict", out: "out", make: file, flags: "--strict -C -", code: 3, says: "no state"},
		{name: "record in no folder", out: "out", flags: "--meta none/meta", code: 3, says: "no such file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t)
			dir := open(t)
			if err := os.Chmod(dir, 0o777); err != nil {
				t.Fatal(err)
			}
			path := dir + "/" + c.out
			if c.make != nil {
				if err := c.make(path); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command(l.fetch, append([]string{"-q", "-o", path, s.URL + "/100"}, strings.Fields(c.flags)...)...)
			cmd.SysProcAttr = nobody
			if strings.HasPrefix(c.name, "read-only") || os.Geteuid() != 0 {
				cmd.Dir = dir
			} else {
				cmd.SysProcAttr = nil
			}
			before := listing(t, dir)
			e := run(t, cmd)
			if e.code != c.code || !strings.Contains(e.said, c.says) || s.requests.Load() != c.asks {
				t.Errorf("%v, %d requests, want exit %d, %q and %d", e, s.requests.Load(), c.code, c.says, c.asks)
			}
			if after := listing(t, dir); c.asks == 0 && after != before {
				t.Errorf("the folder has become %s, was %s", after, before)
			}
			if c.asks == 1 && c.name != "FIFO" && content(t, path) != string(s.body("/100")) {
				t.Errorf("got %q", content(t, path))
			}
		})
	}
	t.Run("read-only disk", func(t *testing.T) {
		s := serve(t)
		e := l.inMount(t, "1m", `mount -o remount,ro "$2"; "$1" -q -o out `+s.URL+`/5; echo exit $?, $(ls -A)`)
		if e.stdout != "exit 3,\n" || !strings.Contains(e.said, "read-only file system") || s.requests.Load() > 0 {
			t.Errorf("%v: %s", e, e.stdout)
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

// fifo makes one that is read until it ends.
func fifo(path string) error {
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		return err
	}
	return exec.Command("/bin/sh", "-c", `cat "$1" >/dev/null & sleep 0`, "sh", path).Run()
}

// lock takes the part of path and its lock, for as long as this process
// lives.
func lock(path string) error {
	f, err := os.OpenFile(part(path), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
}

// listing is all that is in a folder: names, modes and sizes.
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
