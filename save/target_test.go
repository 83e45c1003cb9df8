//go:build linux

package save_test

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/save"
)

// TestCreateErrors checks the errors that Create detects before any request.
func TestCreateErrors(t *testing.T) {
	dir, out := folder(t, old)
	link(t, "loop", filepath.Join(dir, "loop"))
	link(t, dir, filepath.Join(dir, "todir"))
	if err := os.Mkdir(filepath.Join(dir, ".blocked.part"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, path string
		o          save.Options
		fault      fetch.Fault
		err        error
	}{
		{"no name", "", save.Options{}, fetch.Usage, nil},
		{"directory", dir, save.Options{}, fetch.Local, syscall.EISDIR},
		{"directory, not to be replaced", dir, save.Options{Existing: save.Refuse}, fetch.Local, syscall.EISDIR},
		{"link to a directory", dir + "/todir", save.Options{}, fetch.Local, syscall.EISDIR},
		{"name of a directory that is not there", dir + "/new/", save.Options{}, fetch.Local, syscall.EISDIR},
		{"dot", dir + "/.", save.Options{}, fetch.Local, syscall.EISDIR},
		{"no folder", dir + "/none/out", save.Options{}, fetch.Local, fs.ErrNotExist},
		{"a file for a folder", out + "/x", save.Options{}, fetch.Local, syscall.ENOTDIR},
		{"name too long", dir + "/" + strings.Repeat("x", 256), save.Options{}, fetch.Local, syscall.ENAMETOOLONG},
		{"links in a circle", dir + "/loop", save.Options{}, fetch.Local, syscall.ELOOP},
		{"a directory for a part", dir + "/blocked", save.Options{}, fetch.Local, nil},
		{"resume without URL", out, save.Options{Resume: true}, fetch.Usage, nil},
		{"resume at an offset", out, save.Options{Resume: true, URL: url, Offset: 1}, fetch.Usage, nil},
		{"negative offset", out, save.Options{Offset: -1}, fetch.Usage, nil},
		{"resume without state, strict", out, save.Options{Resume: true, Existing: save.Continue, URL: url, Strict: true}, fetch.Exists, nil},
		{"no such descriptor", "/dev/fd/987654", save.Options{}, fetch.Local, syscall.EBADF},
	} {
		before := names(t, dir)
		f, err := save.Create(test.path, test.o)
		if f != nil || fetch.FaultOf(err) != test.fault || test.err != nil && !errors.Is(err, test.err) {
			t.Errorf("%s: got %v, %v of class %v, want %v of class %v", test.name, f, err, fetch.FaultOf(err), test.err, test.fault)
		}
		wantNames(t, dir, before)
	}
	wantContent(t, out, old)
}

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

// TestSymlink checks that a symbolic link is kept and its target is replaced.
func TestSymlink(t *testing.T) {
	for _, test := range []struct{ name, to, folder string }{
		{"absolute", "DIR/sub/real", "sub"},
		{"relative", "sub/real", "sub"},
		{"by way of a folder's link", "deep/../real", "elsewhere"},
		{"by way of another link", "second", "sub"},
		{"not there yet", "sub/new", "sub"},
	} {
		dir := t.TempDir()
		sub := filepath.Join(dir, "sub")
		if err := os.MkdirAll(filepath.Join(dir, "elsewhere/deep"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(sub, 0o755); err != nil {
			t.Fatal(err)
		}
		link(t, "elsewhere/deep", filepath.Join(dir, "deep"))
		link(t, "sub/real", filepath.Join(dir, "second"))
		write(t, filepath.Join(sub, "real"), old, 0o640)
		at := filepath.Join(dir, "link")
		link(t, strings.ReplaceAll(test.to, "DIR", dir), at)
		f := create(t, at, save.Options{})
		if _, err := os.Lstat(filepath.Join(dir, test.folder, "."+filepath.Base(f.Name())+".part")); err != nil {
			t.Errorf("%s: the part is not beside the file: %v", test.name, err)
		}
		finish(t, f, body)
		if info, err := os.Lstat(at); err != nil || info.Mode().Type() != fs.ModeSymlink {
			t.Errorf("%s: the link has become %v, %v", test.name, info.Mode(), err)
		}
		wantContent(t, at, body)
	}
}

// TestSymlinkExists checks that a symbolic link counts as an existing file with
// Refuse and Number.
func TestSymlinkExists(t *testing.T) {
	dir, out := folder(t, "")
	link(t, "nowhere", out)
	_, err := save.Create(out, save.Options{Existing: save.Refuse})
	wantFault(t, err, fetch.Exists)
	finish(t, create(t, out, save.Options{Existing: save.Number}), body)
	wantNames(t, dir, "out out.1")
}

// TestPlantedPart checks that a file in the place of the part is not written
// to.
func TestPlantedPart(t *testing.T) {
	for _, plant := range []struct {
		name string
		at   func(victim, part string) error
	}{
		{"symbolic link", os.Symlink},
		{"hard link", os.Link},
		{"file that others may write to", func(_, part string) error {
			return errors.Join(os.WriteFile(part, []byte("planted"), 0o600), os.Chmod(part, 0o666))
		}},
	} {
		for _, resume := range []bool{false, true} {
			dir, out := folder(t, old)
			victim := filepath.Join(t.TempDir(), "victim")
			part := filepath.Join(dir, ".out.part")
			write(t, victim, "precious", 0o600)
			for _, path := range []string{part, part + ".state", part + ".new"} {
				if err := plant.at(victim, path); err != nil {
					t.Fatal(err)
				}
			}
			planted, err := os.Open(part) // the other user could keep the file open and change it later
			if err != nil {
				t.Fatal(err)
			}
			defer planted.Close()
			f := create(t, out, save.Options{Resume: resume, URL: url})
			if err := f.Begin(save.State{Size: -1}); err != nil {
				t.Fatal(err)
			}
			finish(t, f, body)
			wantContent(t, victim, "precious")
			wantContent(t, out, body)
			info, err := os.Lstat(out)
			if err != nil || info.Mode() != 0o644 {
				t.Errorf("%s: got %v, %v", plant.name, info.Mode(), err)
			}
			if was, err := planted.Stat(); err != nil || os.SameFile(info, was) {
				t.Errorf("%s: the file is the planted one, %v", plant.name, err)
			}
		}
	}
}

func TestLongName(t *testing.T) {
	for _, name := range []string{
		strings.Repeat("x", 243), strings.Repeat("x", 244), strings.Repeat("x", 255), strings.Repeat("é", 127),
	} {
		dir := t.TempDir()
		out := filepath.Join(dir, name)
		f := create(t, out, save.Options{Resume: true, URL: url})
		if err := f.Begin(save.State{Validator: "v", Size: -1}); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(body)); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		f = create(t, out, save.Options{Resume: true, URL: url})
		if got := f.State().Offset; got != int64(len(body)) {
			t.Errorf("%d bytes: %d bytes are kept, want %d", len(name), got, len(body))
		}
		if err := f.Begin(f.State()); err != nil {
			t.Fatal(err)
		}
		finish(t, f, "!")
		wantContent(t, out, body+"!")
		wantNames(t, dir, name)
	}
}

func TestFIFO(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	got := make(chan string)
	go func() {
		r, err := os.Open(pipe)
		if err != nil {
			t.Error(err)
		}
		text, _ := io.ReadAll(r)
		got <- string(text)
	}()
	f := create(t, pipe, save.Options{Resume: true, URL: url, Existing: save.Refuse})
	if !f.Device() || f.State().Offset != 0 {
		t.Errorf("Device() = %v, State() = %v", f.Device(), f.State())
	}
	wantNames(t, dir, "pipe")
	finish(t, f, body)
	if text := <-got; text != body {
		t.Errorf("got %q", text)
	}
	wantNames(t, dir, "pipe")
}

func TestSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = save.Create(path, save.Options{})
	wantFault(t, err, fetch.Local)
}

func TestDevice(t *testing.T) {
	finish(t, create(t, "/dev/null", save.Options{Existing: save.Number}), body)
	f := create(t, "/dev/full", save.Options{})
	_, err := f.Write([]byte(body))
	wantFault(t, err, fetch.DiskFull)
	wantFault(t, f.Commit(), fetch.DiskFull)
	if info, err := os.Stat("/dev/full"); err != nil || info.Mode()&fs.ModeCharDevice == 0 {
		t.Errorf("/dev/full is %v, %v", info.Mode(), err)
	}

	// A device cannot start again after the first byte was written.
	f = create(t, "/dev/null", save.Options{})
	if _, err := f.Write([]byte(body)); err != nil {
		t.Fatal(err)
	}
	wantFault(t, f.Begin(save.State{Size: -1}), fetch.Local)
	if err := f.Begin(save.State{Offset: int64(len(body)), Size: -1}); err != nil {
		t.Error(err)
	}
}

func TestDescriptor(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	path := "/dev/fd/" + strconv.Itoa(int(w.Fd()))
	finish(t, create(t, path, save.Options{}), body)
	got := make([]byte, len(body))
	if _, err := io.ReadFull(r, got); err != nil || string(got) != body {
		t.Errorf("got %q, %v", got, err)
	}
	r.Close()
	f := create(t, path, save.Options{})
	_, err = f.Write([]byte(body))
	wantFault(t, err, fetch.Local)
	if !errors.Is(err, syscall.EPIPE) {
		t.Errorf("got %v, want %v in it", err, syscall.EPIPE)
	}
}
