package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
)

// resetPeak reduces the memory of this process and resets the maximum that the
// kernel records for it, because the results of peak include both. Some kernels
// do not support the reset and keep the maximum.
func resetPeak() {
	debug.FreeOSMemory()
	os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

// peak returns the maximum resident memory of a process, in bytes. It includes
// the time between fork and exec, when the process is a copy of bench. The
// result is therefore never smaller than the result of minMemory.
func peak(sys any) float64 {
	if r, ok := sys.(*syscall.Rusage); ok {
		return float64(r.Maxrss << 10)
	}
	return 0
}

// peakOf returns the maximum resident memory of a running process since exec, in
// bytes.
func peakOf(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, value, ok := strings.Cut(string(text), "VmHWM:")
	var kib float64
	if _, err := fmt.Sscan(value, &kib); err != nil || !ok {
		return 0, fmt.Errorf("process %d has no VmHWM", pid)
	}
	return kib * 1024, nil
}
