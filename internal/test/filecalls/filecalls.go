// Package filecalls runs commands and records the system calls that change
// files, or kills a command before one of these calls.
//
// A program with a single thread, tracer, does the work with ptrace. Unlike
// strace, it counts the calls of all threads together, so that each kill has a
// defined place. It also records the bytes of each write, also of writes that
// move data inside the kernel.
package filecalls

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// A Kind is the effect of a call.
type Kind string

// The kinds of calls.
const (
	Create   Kind = "create"   // a new file at Path, or without a name if Path is empty
	Mkdir    Kind = "mkdir"    // a new directory at Path
	Symlink  Kind = "symlink"  // a new symbolic link at Path with the text To
	Write    Kind = "write"    // Data at Offset of the file
	Truncate Kind = "truncate" // the file has the length Offset
	Sync     Kind = "sync"     // the file or directory is synced
	SyncAll  Kind = "sync all" // all files are synced
	Rename   Kind = "rename"   // Path is renamed to To
	Exchange Kind = "exchange" // the names Path and To are exchanged
	Link     Kind = "link"     // the file has the further name To
	Unlink   Kind = "unlink"   // Path is removed: a file or an empty directory
	Send     Kind = "send"     // bytes are sent to a socket; Path is "socket" and the first word, such as PUT
)

// A Call is a system call that succeeded. Paths are absolute.
type Call struct {
	Kind   Kind
	Name   string // name of the system call
	Path   string `json:",omitempty"`
	To     string `json:",omitempty"`
	Inode  uint64 // number of the file, also of a directory that is synced
	Began  int    // number of recorded calls before the call began
	Offset int64  `json:",omitempty"`
	Data   []byte `json:",omitempty"`
}

func (c Call) String() string {
	text := fmt.Sprintf("%s %s", c.Name, c.Path)
	if c.To != "" {
		text += " to " + c.To
	}
	if c.Kind == Write {
		text += fmt.Sprintf(", %d bytes at %d", len(c.Data), c.Offset)
	}
	return text
}

// ErrUnsupported is returned if the system does not permit tracing.
var ErrUnsupported = errors.New("file calls cannot be traced on this system")

// A Tracer runs commands.
type Tracer struct {
	Program string // path of the program tracer
	Sends   bool   // if true, calls that send bytes to a socket count too
}

// Build builds the program tracer in dir.
func Build(dir string) (Tracer, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return Tracer{}, ErrUnsupported
	}
	t := Tracer{Program: filepath.Join(dir, "tracer")}
	c := exec.Command("go", "build", "-o", t.Program, "github.com/anyurl/fetch/internal/test/filecalls/tracer")
	if out, err := c.CombinedOutput(); err != nil {
		return Tracer{}, fmt.Errorf("%w: %s", err, out)
	}
	return t, nil
}

// A Result describes a command that has ended.
type Result struct {
	Code   int    // exit code of the command, or 128 plus the number of the signal that ended it
	Killed string // call before which the command was killed, or empty
	Count  int    // number of calls that counted, including the one before which it was killed
	Output string // standard output and standard error
}

// timeout limits the time of a command.
const timeout = 2 * time.Minute

// Run runs a command. If kill is positive, the command is killed before the call
// with this number below one of the roots. If record is true, the calls are
// returned.
func (t Tracer) Run(c *exec.Cmd, roots []string, kill int, record bool) (Result, []Call, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	report, err := os.CreateTemp("", "calls")
	if err != nil {
		return Result{}, nil, err
	}
	defer os.Remove(report.Name())
	defer report.Close()
	args := []string{"-report", report.Name(), "-kill", strconv.Itoa(kill), "-record=" + strconv.FormatBool(record), "-sends=" + strconv.FormatBool(t.Sends)}
	for _, r := range roots {
		args = append(args, "-root", r)
	}
	args = append(append(args, "--", c.Path), c.Args[1:]...)
	run := exec.CommandContext(ctx, t.Program, args...)
	run.Env, run.Dir, run.Stdin = c.Env, c.Dir, c.Stdin
	var out bytes.Buffer
	run.Stdout, run.Stderr = &out, &out
	run.WaitDelay = time.Second
	if err := run.Run(); err != nil {
		if strings.Contains(out.String(), "operation not permitted") {
			return Result{}, nil, fmt.Errorf("%w: %s", ErrUnsupported, out.String())
		}
		return Result{}, nil, fmt.Errorf("%w: %s", err, out.String())
	}
	result, calls, err := read(report)
	result.Output = out.String()
	return result, calls, err
}

// read reads the report of tracer: one line for each call, and the result.
func read(r io.Reader) (result Result, calls []Call, err error) {
	d := json.NewDecoder(r)
	for {
		var line struct {
			Call   *Call
			Result *Result
		}
		if err := d.Decode(&line); err != nil {
			return result, calls, err
		}
		if line.Result != nil {
			return *line.Result, calls, nil
		}
		calls = append(calls, *line.Call)
	}
}
