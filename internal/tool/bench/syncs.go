package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

// syncCalls are the system calls that write files to a disk.
const syncCalls = "fsync,fdatasync,msync,sync,syncfs,sync_file_range"

// startedCall matches the line of strace for the start of a system call. A call
// that another thread interrupts has a second line, which does not match.
var startedCall = regexp.MustCompile(`(?m)^[0-9]+ +[a-z_]+\(`)

// syncRows runs p once with strace(1) and returns a row with the number of
// syncs for each file. It returns no row if strace is missing.
func (c Case) syncRows(b *block, p program) []row {
	strace, err := exec.LookPath("strace")
	if err != nil {
		b.Logf("bench: %s: %v", c.Name, err)
		return nil
	}
	log := filepath.Join(scratchDir(b, false), "strace")
	p.args = append([]string{"-f", "--seccomp-bpf", "-e", "signal=none", "-e", "trace=" + syncCalls, "-o", log, p.path}, p.args...)
	p.path = strace
	if _, err := p.measure(b.ctx, 1); err != nil {
		b.Fatalf("%s: %v", c.Name, err)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		b.Fatalf("%s: %v", c.Name, err)
	}
	calls := len(startedCall.FindAll(text, -1))
	return []row{{name: c.Name, kind: syncs, fetch: float64(calls) / float64(max(c.Items, 1)), target: c.target(syncs)}}
}
