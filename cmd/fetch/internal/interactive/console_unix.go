//go:build unix

package interactive

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// setLineMode sets a terminal to line mode, so that the user can edit a line
// before it is sent. If echo is true, the terminal displays the typed
// characters. The escape key also ends a line, so that it takes effect
// immediately.
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

// handleSignals handles terminal signals until ctx is canceled. SIGWINCH
// reports a new window size. After SIGCONT, the terminal mode is set again.
// SIGHUP and SIGQUIT end the process after the terminal mode is restored.
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
