// Package testdir creates directories in memory for tests that sync many files.
package testdir

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// New creates a directory that all users may enter. It is in memory if the system
// has a directory /dev/shm. The caller removes it.
func New() (dir string, err error) {
	dir, err = os.MkdirTemp("/dev/shm", "fetch-test-")
	if err != nil {
		dir, err = os.MkdirTemp("", "fetch-test-")
	}
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o755)
}

// Main runs the tests of a package and returns their exit code. With -short,
// the tests create their temporary directories in the directory that New
// returns. Without -short, they use TMPDIR.
func Main(m *testing.M) (code int) {
	flag.Parse()
	if !testing.Short() {
		return m.Run()
	}
	dir, err := New()
	if err == nil {
		err = os.Setenv("TMPDIR", dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	return m.Run()
}
