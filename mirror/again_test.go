package mirror_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/peer"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/warc"
)

// TestUnchanged: a run over what did not change brings no body and writes no
// payload.
func TestUnchanged(t *testing.T) {
	t.Parallel()
	for name, start := range sites {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, start(t).urls...)
			o.Marks = &marks{}
			run(t, o)
			before := warcs(t, o.Dir)
			sum := run(t, o)
			if sum.New != 0 {
				t.Errorf("%+v", sum)
			}
			for _, file := range warcs(t, o.Dir) {
				if !slices.Contains(before, file) {
					norepeat(t, file)
				}
			}
		})
	}
}

func warcs(t testing.TB, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "warc", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// norepeat checks that a WARC file holds no object.
func norepeat(t *testing.T, name string) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for r := warc.NewReader(f); ; {
		h, err := r.Next()
		if err != nil {
			return
		}
		if h.Type() == warc.Response || h.Type() == warc.Resource {
			t.Errorf("%s of %s, %d bytes", h.Type(), h.Target(), h.Length)
		}
	}
}

// TestWhole: a server that answers If-Modified-Since by "not newer", and a kill
// in the midst of a file. Others keep the first part of it as the whole.
func TestWhole(t *testing.T) {
	t.Parallel()
	s := peer.Nginx(t, peer.NginxOptions{Rate: "8m", Server: "if_modified_since before;"})
	body := strings.Repeat("0123456789abcdef", 3<<20/16)
	s.Put("large.bin", []byte(body))
	o := order{Dir: t.TempDir(), URLs: []string{"http://" + s.Addr + "/large.bin"}, Tree: true, WARC: true}
	c := o.start(t)
	time.AfterFunc(200*time.Millisecond, func() { c.Process.Kill() })
	if c.Wait() == nil {
		t.Fatal("it was not killed")
	}
	if files := tree(t, o.Dir, ""); len(files) != 0 {
		t.Errorf("a file is there: %d", len(files))
	}
	for range 2 {
		o.finish(t)
		for name, got := range tree(t, o.Dir, "") {
			if got != body {
				t.Errorf("%s has %d bytes, want %d", name, len(got), len(body))
			}
		}
	}
}

// TestGone: what the server has no more is kept, or goes to the attic unless it
// is much.
func TestGone(t *testing.T) {
	t.Parallel()
	s := sites["ftp"](t)
	o := options(t, s.urls...)
	run(t, o)
	if err := os.Remove(filepath.Join(s.Root, "pub/one.txt")); err != nil {
		t.Fatal(err)
	}
	if sum := run(t, o); sum.Gone != 1 {
		t.Errorf("%+v", sum)
	}
	if got := tree(t, o.Dir, ""); got["ftp/"+plus(s.Addr)+"/pub/one.txt"] != "the first\n" {
		t.Error("what is gone was not kept")
	}
	o.Delete = true
	if _, err := mirror.Run(t.Context(), o); err == nil {
		t.Error("one of five was deleted")
	}
	o.MaxDelete = 0.5
	if sum := run(t, o); sum.Attic != 1 {
		t.Errorf("%+v", sum)
	}
	if _, ok := tree(t, o.Dir, "")["ftp/"+plus(s.Addr)+"/pub/one.txt"]; ok {
		t.Error("it is still in the tree")
	}
	s.Put("pub/one.txt", []byte("again\n"))
	run(t, o)
	if got := tree(t, o.Dir, "")["ftp/"+plus(s.Addr)+"/pub/one.txt"]; got != "again\n" {
		t.Errorf("back it is %q", got)
	}
}

func plus(addr string) string { return strings.ReplaceAll(addr, ":", "+") }
