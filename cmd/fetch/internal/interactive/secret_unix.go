//go:build unix

package interactive

import (
	"bufio"
	"context"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// ReadSecret calls prompt and reads a line from the terminal in without echo.
// If ctx ends, ReadSecret restores the echo, because the process may end before
// the line is complete.
func ReadSecret(ctx context.Context, in *os.File, prompt func()) ([]byte, error) {
	fd := int(in.Fd())
	saved, err := term.GetState(fd)
	if err != nil {
		return nil, err
	}
	// The echo is off before the prompt is visible and before ctx is watched.
	// So no later call turns the echo off again.
	if err := setLineMode(fd, false); err != nil {
		return nil, err
	}
	defer term.Restore(fd, saved)
	defer context.AfterFunc(ctx, func() { term.Restore(fd, saved) })()
	prompt()
	line, err := bufio.NewReader(in).ReadString('\n')
	if err == io.EOF && line != "" {
		err = nil
	}
	return []byte(strings.TrimRight(line, "\r\n")), err
}
