// Command peak runs a command and writes to the file named first how much
// memory it had at the most, in KiB. It is a process of its own because a
// child of Linux inherits the peak of who started it, and a test is large.
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
