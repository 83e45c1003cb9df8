package mirror_test

import (
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/mirror"
)

// TestFullDisk checks that a full disk ends the run with a matching error and a
// consistent archive. With free space, the same call completes the run.
func TestFullDisk(t *testing.T) {
	for form, sizes := range map[string][]string{"tree": {"1200k"}, "warc": {"1200k"}, "tree and warc": {"600k", "1200k", "2m"}} {
		for _, size := range sizes {
			t.Run(form+" on "+size, func(t *testing.T) {
				s := peer.Nginx(t, peer.NginxOptions{})
				addPages(s)
				for _, name := range []string{"pub/a", "pub/b", "pub/c"} {
					s.Put(name, []byte(strings.Repeat(name+incompressible, 700)))
				}
				s.Put("pub/index.html", []byte(`<a href=a><a href=b><a href=c><a href=one.txt><a href=two.bin>`))
				o := options(t, "http://"+s.Addr+"/pub/")
				o.Tree = strings.HasPrefix(form, "tree")
				if !strings.HasSuffix(form, "warc") {
					o.WARC = nil
				}
				if err := syscall.Mount("tmpfs", o.Dir, "tmpfs", 0, "size="+size); err != nil {
					t.Skip("mounting a tmpfs requires root:", err)
				}
				defer syscall.Unmount(o.Dir, syscall.MNT_DETACH)
				_, err := mirror.Run(t.Context(), o)
				if !errors.Is(err, fetch.DiskFull) {
					t.Fatalf("%v: %v", fetch.FaultOf(err), err)
				}
				if n := strings.Count(err.Error(), "no space left") + strings.Count(err.Error(), "disk is full"); n < 1 || n > 2 || strings.Contains(err.Error(), "\n") {
					t.Errorf("error %v", err)
				}
				for f, err := range mirror.Open(mirror.Location{Dir: o.Dir}).Verify(t.Context()) {
					if f.Path != "" && !f.Note || err != nil && !errors.Is(err, mirror.ErrIncomplete) && !errors.Is(err, fetch.DiskFull) && !errors.Is(err, fetch.Local) {
						t.Errorf("%v %v", f, err)
					}
				}
				if err := syscall.Mount("tmpfs", o.Dir, "tmpfs", syscall.MS_REMOUNT, "size=64m"); err != nil {
					t.Fatal(err)
				}
				if sum := run(t, o); sum.Run != 1 || sum.Failed > 0 || sum.Pending > 0 {
					t.Errorf("%+v", sum)
				}
				if n := len(tree(t, o.Dir, "")); o.Tree && n != 6 {
					t.Errorf("%d files", n)
				}
				checkVerify(t, o.Dir)
			})
		}
	}
}

// incompressible is text that gzip can hardly compress.
var incompressible = func() string {
	var b strings.Builder
	x := uint32(1)
	for range 1000 {
		x = x*1664525 + 1013904223
		b.WriteByte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"[x>>26])
	}
	return b.String()
}()

// TestCallOrder checks that the bytes and the records are synced before the
// transaction, and that the transaction precedes the names of the files.
func TestCallOrder(t *testing.T) {
	t.Parallel()
	strace := peer.Need(t, "strace", "strace")
	s := peer.Nginx(t, peer.NginxOptions{})
	s.Put("x", []byte("x"))
	o := childTask{Dir: t.TempDir(), URLs: []string{"http://" + s.Addr + "/x"}, Tree: true, WARC: true}
	c := o.command(t)
	log := filepath.Join(t.TempDir(), "log")
	c.Args = append([]string{strace, "-f", "-y", "-o", log, "-e", "trace=fsync,fdatasync,renameat,renameat2,write,pwrite64", c.Path}, c.Args[1:]...)
	c.Path = strace
	if out, err := c.CombinedOutput(); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) && strings.Contains(string(out), "ptrace") {
			t.Skip(string(out))
		}
		t.Fatal(err, string(out))
	}
	var got []string
	for _, line := range strings.Split(content(t, log), "\n") {
		line = strings.ReplaceAll(line, o.Dir, "DIR")
		for _, step := range []struct{ is, pattern string }{
			{"sync tmp", `fsync\(\d+<DIR/tmp>`},
			{"sync part", `fsync\(\d+<DIR/tmp/[^>]*part>`},
			{"write record", `write\(\d+<DIR/warc/[^>]*open>`},
			{"sync record", `fsync\(\d+<DIR/warc/[^>]*open>`},
			{"name", `renameat2?\(.*\.part".*"x"`},
			{"sync folder", `fsync\(\d+<DIR/tree/http/127[^>]*>`},
			{"transaction", `f(data)?sync\(\d+<DIR/fetch.db-wal>`},
		} {
			if regexp.MustCompile(step.pattern).MatchString(line) {
				got = append(got, step.is)
			}
		}
	}
	named := slices.Index(got, "name")
	if named < 0 {
		t.Fatalf("%q\n%s", got, content(t, log))
	}
	var order []string // system calls from the last sync of a part
	for i := named; i >= 0 && got[i] != "sync part"; i-- {
		order = slices.Insert(order, 0, got[i])
	}
	order = append(slices.Compact(order), slices.Compact(got[named:])[1:]...)
	if len(order) < 6 || !slices.Equal(order[:6], []string{"sync tmp", "write record", "sync record", "transaction", "name", "sync folder"}) {
		t.Errorf("order %q", got)
	}
}
