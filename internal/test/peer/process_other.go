//go:build !linux

package peer

import (
	"errors"
	"io"
	"os"
	"os/exec"
)

// The servers require Debian. On other systems, Need skips the tests before
// these functions are called.

var errNotLinux = errors.New("servers for tests run on Linux only")

func ownGroup(*exec.Cmd, string) error { return errNotLinux }

func unprivileged() string { return "" }

func kill(p *os.Process) { _ = p.Kill() }

func chown(string, string) error { return nil }

func lock(string) (io.Closer, error) { return nil, errNotLinux }

func blocking(*os.File) error { return errNotLinux }

func ids(string) (uid, gid int, err error) { return 0, 0, errNotLinux }
