package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	command "github.com/anyurl/fetch/cmd/fetch"
	"github.com/anyurl/fetch/internal/test/testdir"
)

// built contains the paths of the programs that have been built.
var built struct {
	sync.Mutex
	dir   string // "" before the first call
	paths map[string]string
}

// build returns the path of a program of this module. Each program is built
// once and is removed after all tests. With -short the test is skipped.
//
// Unlike "make build" it does not remove the paths of source files, so that the
// build cache of "go vet" can be used.
func build(t *testing.T, pkg, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("the command is not built with -short")
	}
	built.Lock()
	defer built.Unlock()
	if path, ok := built.paths[name]; ok {
		return path
	}
	path, err := buildProgram(pkg, name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func buildProgram(pkg, name string) (path string, err error) {
	if built.dir == "" {
		if built.dir, err = testdir.New(); err != nil {
			return "", err
		}
		built.paths = map[string]string{}
		command.AfterTests = func() { os.RemoveAll(built.dir) }
	}
	path = filepath.Join(built.dir, name)
	if out, err := exec.Command("go", "build", "-o", path, pkg).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	built.paths[name] = path
	return path, nil
}
