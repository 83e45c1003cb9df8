package crash

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/anyurl/fetch/internal/test/filecalls"
	"github.com/anyurl/fetch/internal/test/testdir"
)

// programs are the programs that the tests run.
type programs struct {
	fetch  string
	tracer filecalls.Tracer
}

// built contains the programs, which are built once and removed after all tests.
var built struct {
	sync.Mutex
	dir string
	programs
	err error
}

func TestMain(m *testing.M) {
	code := testdir.Main(m)
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// build returns the programs. It skips the test with -short and on systems that
// do not permit tracing.
func build(t *testing.T) programs {
	t.Helper()
	if testing.Short() {
		t.Skip("runs the command")
	}
	built.Lock()
	defer built.Unlock()
	if built.dir == "" && built.err == nil {
		built.err = buildAll()
	}
	if errors.Is(built.err, filecalls.ErrUnsupported) {
		t.Skip(built.err)
	}
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.programs
}

func buildAll() (err error) {
	if built.dir, err = testdir.New(); err != nil {
		return err
	}
	built.fetch = filepath.Join(built.dir, "fetch")
	out, err := exec.Command("go", "build", "-o", built.fetch, "github.com/anyurl/fetch/cmd/fetch").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	if built.tracer, err = filecalls.Build(built.dir); err != nil {
		return err
	}
	_, _, err = built.tracer.Run(exec.Command("/bin/true"), []string{built.dir}, 0, false)
	return err
}

// folder returns a new folder in memory, if possible, because the tests sync
// many files.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := testdir.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// command returns a command of fetch in the folder dir of a trial. DIR in an
// argument is the folder.
func (p programs) command(dir string, args []string) *exec.Cmd {
	c := exec.Command(p.fetch)
	for _, a := range args {
		c.Args = append(c.Args, strings.ReplaceAll(a, "DIR", dir))
	}
	c.Args = append(c.Args, "-q", "-s", "-S")
	c.Dir = dir
	c.Env = append([]string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()}, keys...)
	return c
}

// run runs a command and returns its exit code and output.
func (p programs) run(t *testing.T, dir string, args []string) (code int, output string) {
	t.Helper()
	c := p.command(dir, args)
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), string(out)
}
