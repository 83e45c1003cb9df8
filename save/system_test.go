//go:build linux

package save_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/save"
)

// underUmask saves path.MASK under the given umask and checks the mode.
func underUmask(path string) error {
	for _, mask := range []int{0o022, 0o077, 0o002, 0} {
		syscall.Umask(mask)
		name := fmt.Sprintf("%s.%03o", path, mask)
		if err := savePath(name, save.Options{}); err != nil {
			return err
		}
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		if want := fs.FileMode(0o666 &^ mask); info.Mode() != want {
			return fmt.Errorf("umask %03o: mode %v, want %v", mask, info.Mode(), want)
		}
	}
	return nil
}

func TestUmask(t *testing.T) {
	dir, out := folder(t, "")
	if text, err := command(t, "umask", out).Output(); err != nil {
		t.Errorf("%v: %s", err, text)
	}
	wantNames(t, dir, "out.000 out.002 out.022 out.077")
}

// TestStdout checks that output to a redirected descriptor keeps the earlier
// content of the file and its position.
func TestStdout(t *testing.T) {
	for _, path := range []string{"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"} {
		dir, out := folder(t, "")
		file, err := os.Create(out)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		file.WriteString("head\n")
		cmd := command(t, "save", path)
		cmd.Stdout = file
		if err := cmd.Run(); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		file.WriteString("\ntail\n")
		wantContent(t, out, "head\n"+body+"\ntail\n")
		wantNames(t, dir, "out")
	}
}

const guest = 65534

// asGuest runs as another user and tries to write to the folders of TestGuest.
func asGuest(dir string) error {
	if err := syscall.Setgid(guest); err != nil {
		return err
	}
	if err := syscall.Setuid(guest); err != nil {
		return err
	}
	for _, test := range []struct {
		path string
		want fetch.Fault
	}{
		{"closed/out", fetch.Local},    // folder is not writable
		{"closed/theirs", fetch.Local}, // folder is not writable, but the file is
		{"open/readonly", fetch.Local}, // file is not writable
		{"sticky/link", fetch.Local},   // link of another user
		{"sticky/busy", fetch.InUse},   // part of another user
		{"sticky/new", 0},
	} {
		if err := savePath(filepath.Join(dir, test.path), save.Options{}); fetch.FaultOf(err) != test.want {
			return fmt.Errorf("%s: %v of class %v, want %v", test.path, err, fetch.FaultOf(err), test.want)
		}
	}
	return nil
}

func TestGuest(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to become somebody else")
	}
	dir, err := os.MkdirTemp("", "save")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	victim := filepath.Join(dir, "open/victim")
	for _, d := range []struct {
		name string
		mode fs.FileMode
	}{{"", 0o755}, {"closed", 0o755}, {"open", 0o777}, {"sticky", 0o777 | fs.ModeSticky}} {
		path := filepath.Join(dir, d.name)
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, d.mode); err != nil {
			t.Fatal(err)
		}
	}
	write(t, victim, old, 0o666)
	write(t, filepath.Join(dir, "closed/theirs"), old, 0o666)
	write(t, filepath.Join(dir, "open/readonly"), old, 0o444)
	write(t, filepath.Join(dir, "sticky/.busy.part"), "", 0o600)
	link(t, victim, filepath.Join(dir, "sticky/link"))
	if err := os.Lchown(filepath.Join(dir, "sticky/link"), guest-1, guest-1); err != nil {
		t.Fatal(err)
	}
	if text, err := command(t, "guest", dir).Output(); err != nil {
		t.Errorf("%v: %s", err, strings.TrimSpace(string(text)))
	}
	wantContent(t, victim, old)
	wantNames(t, filepath.Join(dir, "closed"), "theirs")
	wantNames(t, filepath.Join(dir, "open"), "readonly victim")
	wantNames(t, filepath.Join(dir, "sticky"), ".busy.part link new")
}

// TestRunningProgram checks that a running program can be replaced.
func TestRunningProgram(t *testing.T) {
	dir, out := folder(t, "")
	self, err := os.ReadFile(command(t, "", "").Path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, out, string(self), 0o755)
	cmd := command(t, "hold", filepath.Join(dir, "other"))
	cmd.Path = out
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := savePath(out, save.Options{}); err != nil {
		t.Error(err)
	}
	stdin.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	wantContent(t, out, body)
}

// onFullDisk mounts a disk of 1 MiB on dir and checks the errors when it is
// full.
func onFullDisk(dir string) error {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m,nr_inodes=8"); err != nil {
		return err
	}
	out := filepath.Join(dir, "out")
	if err := os.WriteFile(out, []byte(old), 0o644); err != nil {
		return err
	}
	for _, o := range []save.Options{{}, {Resume: true}} {
		if err := get(out, long, o); fetch.FaultOf(err) != fetch.DiskFull {
			return fmt.Errorf("bytes that do not fit: %v of class %v", err, fetch.FaultOf(err))
		}
		os.Remove(filepath.Join(dir, ".out.part.state"))
		os.Remove(filepath.Join(dir, ".out.part"))
	}
	for n := range 8 {
		if err := os.WriteFile(fmt.Sprintf("%s%d", out, n), nil, 0o644); err != nil {
			break
		}
	}
	if _, err := save.Create(out, save.Options{}); fetch.FaultOf(err) != fetch.DiskFull {
		return fmt.Errorf("a name that does not fit: %v of class %v", err, fetch.FaultOf(err))
	}
	if text, err := os.ReadFile(out); string(text) != old {
		return fmt.Errorf("the file holds %q, %v", text, err)
	}
	return nil
}

// TestDiskFull uses a real full disk in a mount namespace.
func TestDiskFull(t *testing.T) {
	cmd := command(t, "full", t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
	text, err := cmd.Output()
	if errors.Is(err, syscall.EPERM) {
		t.Skip("needs leave to make name spaces")
	}
	if err != nil {
		t.Errorf("%v: %s", err, text)
	}
}
