//go:build unix

package interactive

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// setLineMode makes the terminal deliver complete lines, which the user can
// edit, and echo them if echo is true. The escape key also completes a line, so
// that the program receives the key at once.
func setLineMode(fd int, echo bool) error {
	t, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return err
	}
	t.Iflag |= unix.ICRNL
	t.Lflag |= unix.ICANON | unix.ISIG | unix.ECHO
	if !echo {
		t.Lflag &^= unix.ECHO
	}
	t.Cc[unix.VEOL] = escapeKey
	return unix.IoctlSetTermios(fd, setTermios, t)
}

// handleSignals handles the signals of the terminal until ctx ends. SIGWINCH
// reports a new window size. SIGCONT arrives after a shell has used the
// terminal. SIGHUP and SIGQUIT end the process as usual, after the mode is
// restored.
func (c *Console) handleSignals(ctx context.Context, resize func(cols, rows int)) {
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
				c.restore()
				signal.Reset(s)
				syscall.Kill(syscall.Getpid(), s.(syscall.Signal))
			case syscall.SIGCONT:
				c.reapply()
			}
			c.sendSize(resize)
		}
	}
}
