package warc

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
)

func resource(url string) *Record {
	return at(url, 0).Resource("text/plain", text("the object of "+url))
}

func TestRotation(t *testing.T) {
	dir := testFolder(t)
	opts := testOptions()
	opts.MaxSize, opts.Prefix = 1000, "crawl-1"
	w := testWriter(t, dir, opts)
	var files []string
	for range 9 {
		p := mustWrite(t, w, resource("file:///a"), at("file:///a", 0).Metadata("text/plain", text("m")))
		if p[0].File != p[1].File {
			t.Error("the records of a group are in different files")
		}
		files = append(files, p[0].File)
	}
	open := names(t, dir)
	if last := open[len(open)-1]; last != files[8]+OpenSuffix {
		t.Errorf("files before Close: %q", open)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := slices.Compact(files)
	if got := names(t, dir); !slices.Equal(got, want) || len(want) < 3 ||
		want[1] != "crawl-1-20261121083000-00001-w1.warc.gz" {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, name := range want {
		for f, err := range Verify(dir.Name() + "/" + name) {
			t.Error(f, err)
		}
	}
}

// TestUsedNames verifies that the Writer skips names of finished and unfinished
// files.
func TestUsedNames(t *testing.T) {
	dir := testFolder(t)
	for _, taken := range []string{"fetch-20261121083000-00000-w1.warc.gz", "fetch-20261121083000-00001-w1.warc.gz.open"} {
		if err := dir.WriteFile(taken, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	w := testWriter(t, dir, testOptions())
	if p := mustWrite(t, w, resource("file:///a")); p[0].File != "fetch-20261121083000-00002-w1.warc.gz" {
		t.Errorf("wrote to file %s", p[0].File)
	}
}

// TestNoCapture verifies that a Writer without captures leaves no files.
func TestNoCapture(t *testing.T) {
	dir := testFolder(t)
	w := testWriter(t, dir, testOptions())
	if err := errors.Join(w.Sync(), w.Close(), w.Close()); err != nil {
		t.Error(err)
	}
	if _, err := w.Write(at("file:///a", 0).Resource("", badReader{})); err == nil {
		t.Error("Write accepted an unreadable block")
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("remaining files: %q", got)
	}
}

type badReader struct{}

func (badReader) Read([]byte) (int, error)       { return 0, errors.New("unreadable") }
func (badReader) Seek(int64, int) (int64, error) { return 0, nil }

func TestResume(t *testing.T) {
	const name = "fetch-20261121083000-00000-w1.warc.gz"
	for _, tc := range []struct {
		name   string
		finish bool                                         // the file was finished before the crash
		tail   string                                       // bytes after the records
		end    func(first, second Position) int64           // committed size
		want   func(first, second Position) (string, int64) // where the next record goes
		fault  error
	}{
		{name: "truncated record", tail: "\x1f\x8b\x08\x00torn", end: func(_, b Position) int64 { return b.End() }},
		{name: "uncommitted record", end: func(a, _ Position) int64 { return a.End() }},
		{name: "no uncommitted bytes", end: func(_, b Position) int64 { return b.End() }},
		{name: "finished file, uncommitted record", finish: true, end: func(a, _ Position) int64 { return a.End() }},
		{name: "finished file, committed", finish: true, end: func(_, b Position) int64 { return b.End() }},
		{name: "no committed record", end: func(Position, Position) int64 { return 0 }},
		{name: "missing committed bytes", end: func(_, b Position) int64 { return b.End() + 1 }, fault: fetch.Mismatch},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := testFolder(t)
			opts := testOptions()
			w := testWriter(t, dir, opts)
			first := mustWrite(t, w, resource("file:///a"))[0]
			second := mustWrite(t, w, resource("file:///b"))[0]
			at := name + OpenSuffix
			if err := w.Abandon(); err != nil {
				t.Fatal(err)
			}
			appendTo(t, dir, at, tc.tail)
			if tc.finish {
				if err := dir.Rename(at, name); err != nil {
					t.Fatal(err)
				}
			}
			end := tc.end(first, second)
			w = testWriter(t, dir, opts)
			if err := w.Resume(name, end); !errors.Is(err, tc.fault) {
				t.Fatalf("got error %v", err)
			}
			if tc.fault != nil {
				return
			}
			third := mustWrite(t, w, resource("file:///c"))[0]
			switch fresh := end == 0 || tc.finish && end == second.End(); {
			case !fresh && (third.File != name || third.Offset != end):
				t.Errorf("continued %s at offset %d, want %d", third.File, third.Offset, end)
			case fresh && end > 0 && third.File == name:
				t.Error("the Writer continued a finished file")
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			var v []string
			for _, n := range names(t, dir) {
				if strings.HasSuffix(n, OpenSuffix) {
					t.Errorf("remaining unfinished file %s", n)
				}
				v = append(v, dir.Name()+"/"+n)
			}
			for f, err := range Verify(v...) {
				t.Error(f, err)
			}
		})
	}
}

// TestResumeOpen resumes the current file at an earlier offset, and then an
// unfinished file of another Writer.
func TestResumeOpen(t *testing.T) {
	dir := testFolder(t)
	opts := testOptions()
	w := testWriter(t, dir, opts)
	first := mustWrite(t, w, resource("file:///a"))[0]
	mustWrite(t, w, resource("file:///b"))
	if err := w.Resume(first.File, first.End()); err != nil {
		t.Fatal(err)
	}
	if p := mustWrite(t, w, resource("file:///c"))[0]; p.File != first.File || p.Offset != first.End() {
		t.Errorf("continued at %+v", p)
	}
	opts.Worker = "w2"
	other := testWriter(t, dir, opts)
	second := mustWrite(t, other, resource("file:///d"))[0]
	if err := other.Abandon(); err != nil {
		t.Fatal(err)
	}
	if err := w.Resume(second.File, second.End()); err != nil {
		t.Fatal(err)
	}
	if p := mustWrite(t, w, resource("file:///e"))[0]; p.File != second.File || p.Offset != second.End() {
		t.Errorf("continued at %+v", p)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := names(t, dir), []string{first.File, second.File}; !slices.Equal(got, want) {
		t.Errorf("got files %q, want %q", got, want)
	}
	for f, err := range Verify(dir.Name()+"/"+first.File, dir.Name()+"/"+second.File) {
		t.Error(f, err)
	}
}

func appendTo(t *testing.T, dir *os.Root, name, tail string) {
	t.Helper()
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.WriteString(f, tail); err != nil {
		t.Fatal(err)
	}
}

func TestResumeInvalid(t *testing.T) {
	dir := testFolder(t)
	w := testWriter(t, dir, testOptions())
	if err := w.Resume("a.warc.gz", 0); err != nil {
		t.Error(err)
	}
	if err := w.Resume("a.warc.gz", 7); !errors.Is(err, fetch.Local) {
		t.Errorf("missing file: got error %v", err)
	}
	if err := dir.WriteFile("a.warc.gz.open", []byte("no archive at all"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := w.Resume("a.warc.gz", 3); !errors.Is(err, fetch.Mismatch) {
		t.Errorf("file without records: got error %v", err)
	}
	if b, _ := dir.ReadFile("a.warc.gz.open"); string(b) != "no archive at all" {
		t.Errorf("the file changed to %q", b)
	}
}

// TestWriteFailure fails each operation of the file system in turn. Each group
// must be written completely or not at all, and the Writer must remain usable.
func TestWriteFailure(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 7
	}
	for n := 0; n < 60; n += step {
		dir := testFolder(t)
		folder := &failingFolder{folder: rootFolder{dir}, left: n}
		opts := testOptions()
		opts.MaxSize = 1500
		w, err := NewWriter(dir, opts)
		if err != nil {
			t.Fatal(err)
		}
		w.folder = folder
		failures := 0
		for _, url := range []string{"file:///a", "file:///b", "file:///c", "file:///d", "file:///e", "file:///f"} {
			for range 3 {
				_, err := w.Write(resource(url),
					at(url, 0).Metadata("", strings.NewReader(strings.Repeat("0123456789abcdef", 8<<10))))
				if err == nil {
					err = w.Sync()
				}
				if err == nil {
					break
				}
				failures++
				if !errors.Is(err, fetch.DiskFull) {
					t.Errorf("operation %d: got error %v", n, err)
				}
			}
		}
		for range 2 {
			if err := w.Close(); err == nil {
				break
			}
		}
		if failures > 2 {
			t.Errorf("operation %d: %d calls failed", n, failures)
		}
		seen := map[string]int{}
		for _, name := range names(t, dir) {
			for f, err := range Verify(dir.Name() + "/" + name) {
				t.Errorf("operation %d: %v %v", n, f, err)
			}
			b, err := dir.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			for l, err := range Lines(name, b) {
				if err != nil {
					t.Error(err)
				}
				seen[l.URL]++
			}
			b.Close()
		}
		if len(seen) != 6 {
			t.Errorf("operation %d: got lines for %v", n, seen)
		}
		if folder.left >= 0 {
			return // there were fewer than n operations
		}
	}
	t.Error("the Writer used too many operations")
}

// A failingFolder simulates a full disk for one operation, after the given
// number of successful operations.
type failingFolder struct {
	folder
	left int
}

func (f *failingFolder) fails() error {
	f.left--
	if f.left == -1 {
		return &fs.PathError{Op: "test", Path: "x", Err: syscall.ENOSPC}
	}
	return nil
}

func (f *failingFolder) OpenFile(name string, flag int, perm fs.FileMode) (file, error) {
	if err := f.fails(); err != nil {
		return nil, err
	}
	opened, err := f.folder.OpenFile(name, flag, perm)
	return &failingFile{opened, f}, err
}

func (f *failingFolder) Rename(from, to string) error {
	return errors.Join(f.fails(), f.folder.Rename(from, to))
}

func (f *failingFolder) Sync() error { return errors.Join(f.fails(), f.folder.Sync()) }

type failingFile struct {
	file
	f *failingFolder
}

func (h *failingFile) Write(p []byte) (int, error) {
	if err := h.f.fails(); err != nil {
		n, _ := h.file.Write(p[:len(p)/2])
		return n, err
	}
	return h.file.Write(p)
}

func (h *failingFile) Sync() error { return errors.Join(h.f.fails(), h.file.Sync()) }

func TestDate(t *testing.T) {
	for _, tc := range []struct {
		t    time.Time
		want string
	}{
		{time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), "2026-01-02T03:04:05Z"},
		{time.Date(2026, 1, 2, 3, 4, 5, 100e6, time.UTC), "2026-01-02T03:04:05.1Z"},
		{time.Date(2026, 1, 2, 3, 4, 5, 1, time.FixedZone("", 3600)), "2026-01-02T02:04:05.000000001Z"},
	} {
		if got := formatDate(tc.t); got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
		if got := parseDate(tc.want); !got.Equal(tc.t) {
			t.Errorf("%s was parsed as %v", tc.want, got)
		}
	}
	for _, s := range []string{"2026", "2026-01", "2026-01-02", "2026-01-02T03:04Z"} {
		if parseDate(s).IsZero() {
			t.Errorf("%s was rejected", s)
		}
	}
}
