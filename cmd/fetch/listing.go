package main

import (
	"bufio"
	"fmt"
	"io"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/tty"
)

// numbered writes a listing for a person to read: what leads somewhere has a
// number and its kind, what is there to be read stands alone.
func numbered(w io.Writer, resp *fetch.Response) error {
	lines := bufio.NewWriter(w)
	n := 0
	for e, err := range resp.Entries() {
		if err != nil {
			lines.Flush()
			return err
		}
		if e.Kind == fetch.Info {
			fmt.Fprintf(lines, "%16s%s\n", "", tty.Escape(e.Name))
			continue
		}
		n++
		fmt.Fprintf(lines, "%4d %-10s %s\n", n, e.Kind, tty.Escape(e.Name))
	}
	return local(lines.Flush())
}

// names writes a listing that has no bytes of its own as the names in it, one
// a line: what a person expects of a directory. Fetch ls tells more.
func names(w io.Writer, resp *fetch.Response) error {
	lines := bufio.NewWriter(w)
	for e, err := range resp.Entries() {
		if err != nil {
			return err
		}
		if _, err := lines.WriteString(tty.Escape(e.Name) + "\n"); err != nil {
			return local(err)
		}
	}
	return local(lines.Flush())
}
