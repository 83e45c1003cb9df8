package mirror_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/warc"
)

// TestUnchanged checks that a run without changes retrieves no body and writes
// no payload.
func TestUnchanged(t *testing.T) {
	t.Parallel()
	for name, start := range sites {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, start(t).urls...)
			o.Marks = &noMarks{}
			run(t, o)
			before := warcs(t, o.Dir)
			sum := run(t, o)
			if sum.New != 0 {
				t.Errorf("%+v", sum)
			}
			for _, file := range warcs(t, o.Dir) {
				if !slices.Contains(before, file) {
					checkNoPayload(t, file)
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

// checkNoPayload checks that a WARC file contains no object. An error page, such
// as the response for a missing robots.txt, is not an object.
func checkNoPayload(t *testing.T, name string) {
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
		start := make([]byte, len("HTTP/1.1 404"))
		io.ReadFull(r, start)
		missing := string(start) == "HTTP/1.1 404"
		if h.Type() == warc.Response && !missing || h.Type() == warc.Resource {
			t.Errorf("%s of %s, %d bytes", h.Type(), h.Target(), h.Length)
		}
	}
}

// TestTruncatedByKill checks that a file truncated by a kill is replaced by the
// complete file, although the server answers If-Modified-Since with 304.
func TestTruncatedByKill(t *testing.T) {
	t.Parallel()
	s := peer.Nginx(t, peer.NginxOptions{Rate: "8m", Server: "if_modified_since before;"})
	body := strings.Repeat("0123456789abcdef", 3<<20/16)
	s.Put("large.bin", []byte(body))
	o := childTask{Dir: t.TempDir(), URLs: []string{"http://" + s.Addr + "/large.bin"}, Tree: true, WARC: true}
	c := o.start(t)
	time.AfterFunc(200*time.Millisecond, func() { c.Process.Kill() })
	if c.Wait() == nil {
		t.Fatal("the process was not killed")
	}
	if files := tree(t, o.Dir, ""); len(files) != 0 {
		t.Errorf("%d files in the archive", len(files))
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

// TestGone checks that files deleted on the server stay in the tree, or move to
// the attic unless they are too many.
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
	if got := tree(t, o.Dir, ""); got["ftp/"+treeHost(s.Addr)+"/pub/one.txt"] != "the first\n" {
		t.Error("a deleted file was not kept")
	}
	o.Delete, o.MaxDelete = true, 0.05
	s.Put("pub/later.txt", []byte("later\n"))
	for range 2 {
		if _, err := mirror.Run(t.Context(), o); err == nil {
			t.Error("a file was deleted despite MaxDelete")
		}
		checkVerify(t, o.Dir) // the run ended despite the error
	}
	if got := tree(t, o.Dir, "")["ftp/"+treeHost(s.Addr)+"/pub/later.txt"]; got != "later\n" {
		t.Errorf("new file has %q", got)
	}
	s.Put("pub/later.txt", []byte("changed\n"))
	o.MaxDelete = 0.5
	if sum := run(t, o); sum.Attic != 1 {
		t.Errorf("%+v", sum)
	}
	switch files := tree(t, o.Dir, "ftp/"+treeHost(s.Addr)+"/pub"); {
	case files["one.txt"] != "":
		t.Error("the file is still in the tree")
	case files["later.txt"] != "changed\n":
		t.Errorf("changed file has %q", files["later.txt"])
	}
	s.Put("pub/one.txt", []byte("again\n"))
	run(t, o)
	if got := tree(t, o.Dir, "")["ftp/"+treeHost(s.Addr)+"/pub/one.txt"]; got != "again\n" {
		t.Errorf("restored file has %q", got)
	}
}

// TestListedOnce checks that only a listing of the same run shows that a file
// is unchanged, and that a time in full minutes does not count.
func TestListedOnce(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"file", "ftp"} { // the times are exact with file and rounded to the minute with ftp
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			s := sites[scheme](t)
			minute := time.Now().Add(-time.Hour).Truncate(time.Minute)
			stamp := func(name string, at time.Time) {
				if err := os.Chtimes(filepath.Join(s.Root, name), at, at); err != nil {
					t.Fatal(err)
				}
			}
			put := func(name, text string, at time.Time) {
				s.Put(name, []byte(text))
				stamp(name, at)
			}
			put("pub/going.txt", "is exact\n", minute.Add(7*time.Second))
			put("pub/gone.txt", "on the minute\n", minute)
			put("pub/changed.txt", "before\n", minute)
			o := options(t, s.urls...)
			run(t, o)
			for _, name := range []string{"going.txt", "gone.txt"} {
				if err := os.Remove(filepath.Join(s.Root, "pub", name)); err != nil {
					t.Fatal(err)
				}
			}
			put("pub/changed.txt", "after!\n", minute.Add(30*time.Second))
			if sum := run(t, o); sum.Gone != 2 {
				t.Errorf("%+v; want two gone", sum)
			}
			found := ""
			for name, text := range tree(t, o.Dir, "") {
				if strings.HasSuffix(name, "changed.txt") {
					found = text
				}
			}
			if found != "after!\n" {
				t.Errorf("changed.txt is %q", found)
			}
		})
	}
}

func treeHost(addr string) string { return strings.ReplaceAll(addr, ":", "+") }
