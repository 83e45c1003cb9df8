//go:build unix

package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// takeLines has the terminal collect lines, which the person may edit, and
// show them or not. The escape ends one too, so that it is heard at once.
func takeLines(fd int, shown bool) error {
	t, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return err
	}
	t.Iflag |= unix.ICRNL
	t.Lflag |= unix.ICANON | unix.ISIG | unix.ECHO
	if !shown {
		t.Lflag &^= unix.ECHO
	}
	t.Cc[unix.VEOL] = escape
	return unix.IoctlSetTermios(fd, setTermios, t)
}

// follow minds the signals that concern a terminal until ctx ends: a window of
// another size, a shell that has had the terminal meanwhile, and what ends the
// process, as it would have without us.
func (c *console) follow(ctx context.Context, resize func(cols, rows int)) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGWINCH, syscall.SIGCONT, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(signals)
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-signals:
			switch s {
			case syscall.SIGHUP, syscall.SIGQUIT:
				c.end()
				signal.Reset(s)
				syscall.Kill(syscall.Getpid(), s.(syscall.Signal))
			case syscall.SIGCONT:
				c.again()
			}
			c.tellSize(resize)
		}
	}
}
