//go:build linux && amd64

// Program tracer runs a command under ptrace for package filecalls.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/anyurl/fetch/internal/test/filecalls"
)

// roots is a flag that can be repeated.
type roots []string

func (r *roots) String() string     { return strings.Join(*r, ",") }
func (r *roots) Set(v string) error { *r = append(*r, v); return nil }

func main() {
	t := tracer{threads: map[int]*thread{}}
	report := flag.String("report", "", "write the report to this file")
	flag.IntVar(&t.kill, "kill", 0, "kill the command before this call")
	flag.BoolVar(&t.record, "record", false, "report all calls")
	flag.BoolVar(&t.sends, "sends", false, "consider calls that send bytes to a socket too")
	flag.Var(&t.roots, "root", "consider calls below this directory")
	flag.Parse()
	f, err := os.Create(*report)
	if err == nil {
		t.report = json.NewEncoder(f)
		err = t.run(flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tracer:", err)
		os.Exit(1)
	}
}

// A tracer follows all threads of a command.
type tracer struct {
	roots  roots
	kill   int
	record bool
	sends  bool
	report *json.Encoder

	main     int // process ID of the command
	threads  map[int]*thread
	recorded int
	result   filecalls.Result
}

// A thread is a thread of the command.
type thread struct {
	pid     int
	pending *call // call that has begun and changes files, or nil
}

// run runs the command until all its threads have ended.
func (t *tracer) run(args []string) error {
	runtime.LockOSThread() // ptrace belongs to a thread
	p, err := os.StartProcess(args[0], args, &os.ProcAttr{
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}, Sys: &unix.SysProcAttr{Ptrace: true},
	})
	if err != nil {
		return err
	}
	t.main = p.Pid
	var status unix.WaitStatus
	if _, err := unix.Wait4(t.main, &status, unix.WALL, nil); err != nil {
		return err
	}
	t.threads[t.main] = &thread{pid: t.main}
	const options = unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACEEXEC |
		unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_EXITKILL
	if err := unix.PtraceSetOptions(t.main, options); err != nil {
		return err
	}
	if err := unix.PtraceSyscall(t.main, 0); err != nil {
		return err
	}
	for {
		pid, err := unix.Wait4(-1, &status, unix.WALL, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ECHILD):
			return t.report.Encode(map[string]any{"Result": t.result})
		case err != nil:
			return err
		}
		if err := t.event(pid, status); err != nil && !errors.Is(err, unix.ESRCH) { // ESRCH: the thread was killed
			return err
		}
	}
}

// event handles a change of the state of a thread.
func (t *tracer) event(pid int, status unix.WaitStatus) error {
	switch {
	case status.Exited() || status.Signaled():
		delete(t.threads, pid)
		if pid == t.main && status.Exited() {
			t.result.Code = status.ExitStatus()
		} else if pid == t.main {
			t.result.Code = 128 + int(status.Signal())
		}
		return nil
	case !status.Stopped():
		return nil
	}
	th, signal := t.threads[pid], status.StopSignal()
	if th == nil {
		th = &thread{pid: pid}
		t.threads[pid] = th
		if signal == unix.SIGSTOP {
			signal = 0 // the start of a thread
		}
	}
	switch {
	case signal == unix.SIGTRAP|0x80:
		signal = 0
		if err := t.syscall(th); err != nil {
			return err
		}
	case signal == unix.SIGTRAP:
		signal = 0 // a new thread or a new program
	}
	return unix.PtraceSyscall(pid, int(signal))
}

// syscallInfo is struct ptrace_syscall_info of Linux.
type syscallInfo struct {
	op      uint8
	_       [3]byte
	arch    uint32
	ip, sp  uint64
	first   uint64 // at the start of the call: its number; at the end: the result
	args    [6]uint64
	reserve [4]uint64
}

// syscall handles the beginning or the end of a system call.
func (t *tracer) syscall(th *thread) error {
	var info syscallInfo
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(th.pid), unsafe.Sizeof(info),
		uintptr(unsafe.Pointer(&info)), 0, 0)
	if errno != 0 {
		return errno
	}
	switch info.op {
	case unix.PTRACE_SYSCALL_INFO_ENTRY:
		th.pending = t.begin(th.pid, info.first, info.args)
		if th.pending == nil {
			return nil
		}
		th.pending.Began = t.recorded
		t.result.Count++
		if t.result.Count == t.kill {
			t.result.Killed = th.pending.String()
			return unix.Kill(t.main, unix.SIGKILL)
		}
	case unix.PTRACE_SYSCALL_INFO_EXIT:
		c := th.pending
		th.pending = nil
		if c == nil || !t.record || int64(info.first) < 0 {
			return nil
		}
		if err := c.end(int64(info.first)); err != nil {
			return fmt.Errorf("%s: %w", c, err)
		}
		t.recorded++
		return t.report.Encode(map[string]any{"Call": c.Call})
	}
	return nil
}
