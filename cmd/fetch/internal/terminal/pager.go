package terminal

import (
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// Pager returns the words of the pager command in the environment variable
// PAGER. It returns nil if PAGER is empty or cat.
func Pager() []string {
	words := strings.Fields(os.Getenv("PAGER"))
	if len(words) == 0 || slices.Equal(words, []string{"cat"}) {
		return nil
	}
	return words
}

// DefaultPager is like Pager. If PAGER is not set, it returns less if this
// program is installed.
func DefaultPager() []string {
	if _, set := os.LookupEnv("PAGER"); !set {
		if _, err := exec.LookPath("less"); err == nil {
			return []string{"less"}
		}
	}
	return Pager()
}

// Page runs a pager, and calls lines to write the text to the pager. The user can
// quit the pager before it has read all lines. The program less displays escape
// sequences for styles, unless LESS has other options.
func Page(pager []string, stdout, stderr io.Writer, lines func(io.Writer) error) error {
	c := exec.Command(pager[0], pager[1:]...)
	c.Stdout, c.Stderr = stdout, stderr
	if os.Getenv("LESS") == "" {
		c.Env = append(os.Environ(), "LESS=FRX")
	}
	in, err := c.StdinPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return fetch.Local.Errorf("$PAGER: %w", err)
	}
	lines(in) // the error is ignored; it occurs when the user quits the pager
	in.Close()
	if err := c.Wait(); err != nil {
		return fetch.Local.Errorf("$PAGER: %w", err)
	}
	return nil
}
