//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package chromium

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestOpenProfile checks which directories are refused as profiles.
func TestOpenProfile(t *testing.T) {
	t.Chdir(t.TempDir())
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	ended := exec.Command(os.Args[0], "-test.run=^$")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		name, lock, want string
	}{
		{"never used", "", ""},
		{"used by a process that runs", fmt.Sprintf("%s-%d", host, os.Getpid()), "is in use by process"},
		{"used by a process of another user", host + "-1", "is in use by process 1 on " + host},
		{"its browser was killed", fmt.Sprintf("%s-%d", host, ended.ProcessState.Pid()), ""},
		{"used on another machine", "other-host-7", "is in use by process 7 on other-host"},
		{"another file", "somewhere", ""},
		{"no process", host + "-0", ""},
	} {
		dir := fmt.Sprint("profile", i)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if c.lock != "" {
			if err := os.Symlink(c.lock, filepath.Join(dir, lockName)); err != nil {
				t.Fatal(err)
			}
		}
		o := Options{Profile: dir}
		switch err := o.openProfile(); {
		case c.want == "" && (err != nil || !filepath.IsAbs(o.Profile) || filepath.Base(o.Profile) != dir):
			t.Errorf("%s: %q, %v", c.name, o.Profile, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	for _, dir := range []string{"missing", "file"} {
		if err := (&Options{Profile: dir}).openProfile(); err == nil {
			t.Errorf("%s: no error", dir)
		}
	}
}
