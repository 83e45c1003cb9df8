//go:build !linux

package browsertest

import (
	"errors"
	"os/exec"
	"testing"
)

func killWithParent(*exec.Cmd) {}

func newNamespace(*testing.T, []string) (path string, err error) {
	return "", errors.New("network namespaces exist on Linux only")
}
