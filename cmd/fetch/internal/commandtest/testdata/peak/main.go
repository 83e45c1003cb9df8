// Command peak runs a command and writes the peak memory of the command, in
// KiB, to a file. The first argument names the file. On Linux a child inherits
// the peak memory of its parent, so a large test process cannot measure the
// command directly.
package main

import (
	"errors"
	"log"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

func main() {
	c := exec.Command(os.Args[2], os.Args[3:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		log.Fatal(err)
	}
	peak := c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	if err := os.WriteFile(os.Args[1], []byte(strconv.FormatInt(peak, 10)), 0o644); err != nil {
		log.Fatal(err)
	}
	os.Exit(c.ProcessState.ExitCode())
}
