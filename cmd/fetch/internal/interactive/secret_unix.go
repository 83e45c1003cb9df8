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

// ReadSecret calls prompt and then reads a line from the terminal without echo.
// If ctx is canceled, ReadSecret turns the echo on immediately, because the
// process may exit before the line is complete.
func ReadSecret(ctx context.Context, in *os.File, prompt func()) ([]byte, error) {
	fd := int(in.Fd())
	saved, err := term.GetState(fd)
	if err != nil {
		return nil, err
	}
	// Turn off the echo before watching ctx. Otherwise, cancellation could
	// restore the echo first, and the echo would then remain off.
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
