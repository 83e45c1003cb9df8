package commandtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/anyurl/fetch/internal/test/testdir"
)

// built contains the paths of the programs that have been built.
var built struct {
	sync.Mutex
	dir   string // "" before the first call
	paths map[string]string
}

// Build returns the path of a program of this module. Each program is built
// once and is removed after all tests. With -short the test is skipped.
//
// Unlike "make build" it does not remove the paths of source files, so that the
// build cache that "make test" fills can be used.
func Build(t *testing.T, pkg, name string) string {
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

// Fetch returns the path of the command, as [Build] does.
func Fetch(t *testing.T) string {
	t.Helper()
	return Build(t, "github.com/anyurl/fetch/cmd/fetch", "fetch")
}

// Peak returns the path of a program that runs another program and writes its
// peak memory to a file. Only packages in cmd/fetch/internal can call Peak.
func Peak(t *testing.T) string {
	t.Helper()
	return Build(t, "../commandtest/testdata/peak", "peak")
}

func buildProgram(pkg, name string) (path string, err error) {
	if built.dir == "" {
		if built.dir, err = testdir.New(); err != nil {
			return "", err
		}
		built.paths = map[string]string{}
	}
	path = filepath.Join(built.dir, name)
	if out, err := exec.Command("go", "build", "-o", path, pkg).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	built.paths[name] = path
	return path, nil
}

// removePrograms removes the programs that have been built.
func removePrograms() {
	built.Lock()
	defer built.Unlock()
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
}

// MaxMemory is the maximum memory of the command in KiB.
const MaxMemory = 64 << 10 // KiB
