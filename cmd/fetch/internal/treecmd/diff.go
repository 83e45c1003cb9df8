package treecmd

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/manual"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/cmd/fetch/internal/tree"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/spf13/cobra"
)

// A diffCommand compares two trees.
type diffCommand struct {
	clients
	times, content, all, json bool
	ignoreSize                bool

	first, second *tree.Tree
	out           *bufio.Writer
	different     int64
}

// NewDiff returns the command fetch diff.
func NewDiff(r *command.Tree) *cobra.Command {
	return r.Define(&cobra.Command{
		Use:   "diff [flags] URL1|DIR1 URL2|DIR2",
		Short: "Compare two directories, over any two schemes",
		Long: `diff compares the files below two URLs by name and size, and prints a line for each
difference: a mark, a TAB and the path. A reason can follow after a second TAB.

  -  the file is only below the first URL
  +  the file is only below the second URL
  *  the files differ
  =  the files are equal (with --all)

A directory on one side only is one line. --times and --content compare more. If a
listing does not state the exact size of a file, diff sends a request for the
file; --ignore-size avoids this.`,
		Example: command.Examples("fetch diff copy/tree/ftp/ftp.example.org/pub ftp://ftp.example.org/pub/",
			"fetch diff --content sftp://a.example.org/srv/ sftp://b.example.org/srv/"),
		Annotations: map[string]string{manual.ExitStatus: "0\tno difference\n8\tdifferences\n"},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fetch.Usage.Errorf("fetch diff requires two URLs or folders")
			}
			return nil
		},
	}, &diffCommand{clients: clients{Streams: r.Streams}})
}

// Register registers the flags of the command.
func (c *diffCommand) Register(s *options.Set) {
	p := s.Own("Flags")
	p.BoolVar(&c.times, "times", false, "compare the times of files too, to the precision of both listings")
	p.BoolVar(&c.content, "content", false, "retrieve all files of equal size and compare their content")
	p.BoolVar(&c.ignoreSize, "ignore-size", false, "do not compare sizes")
	p.BoolVar(&c.all, "all", false, "print equal files too")
	p.BoolVar(&c.json, "json", false, "print each line as JSON")
	c.register(s)
}

// Run runs the command.
func (c *diffCommand) Run(ctx context.Context, args []string) (err error) {
	if err := c.start(ctx); err != nil {
		return err
	}
	defer c.close(&err)
	if c.first, err = c.tree(ctx, args[0]); err != nil {
		return err
	}
	if c.second, err = c.tree(ctx, args[1]); err != nil {
		return err
	}
	c.out = bufio.NewWriter(c.Stdout)
	a, b := tree.Node{Path: ".", Dir: true}, tree.Node{Path: ".", Dir: true}
	err = console.FlushAfter(c.compareDirectories(a, b), c.out.Flush)
	if err != nil {
		return err
	}
	if c.different > 0 {
		c.tally.Add(0) // a difference is no failure of the command
		if c.tally.Code == 0 {
			return console.ExitError{Code: 8}
		}
	}
	return c.tally.Err()
}

// compareDirectories compares two directories. Both listings are sorted by name.
func (c *diffCommand) compareDirectories(a, b tree.Node) error {
	if a.Depth == tree.MaxDepth {
		return c.first.Skip(fetch.Loop.Errorf("%s is more than %d levels deep", a.Path, tree.MaxDepth))
	}
	left, err := c.first.FS.ReadDir(a.Path)
	if err != nil {
		return c.first.Skip(err)
	}
	right, err := c.second.FS.ReadDir(b.Path)
	if err != nil {
		return c.second.Skip(err)
	}
	for len(left) > 0 || len(right) > 0 {
		var x, y *tree.Node
		if len(right) == 0 || len(left) > 0 && left[0].Name() <= right[0].Name() {
			n := tree.Child(a, left[0])
			x = &n
		}
		if len(left) == 0 || len(right) > 0 && right[0].Name() <= left[0].Name() {
			n := tree.Child(b, right[0])
			y = &n
		}
		if x != nil {
			left = left[1:]
		}
		if y != nil {
			right = right[1:]
		}
		if err := c.compare(x, y); err != nil {
			return err
		}
	}
	c.first.FS.Release(a.Path)
	c.second.FS.Release(b.Path)
	return nil
}

// compare compares two nodes with the same path. A nil node is missing.
func (c *diffCommand) compare(a, b *tree.Node) error {
	switch {
	case a == nil:
		return c.print("+", *b, "")
	case b == nil:
		return c.print("-", *a, "")
	case a.Dir != b.Dir:
		return c.print("*", *a, "a directory on one side only")
	case a.Dir:
		return c.compareDirectories(*a, *b)
	}
	reason, err := c.difference(*a, *b)
	switch {
	case err != nil:
		return c.first.Skip(err)
	case reason != "":
		return c.print("*", *a, reason)
	case c.all:
		return c.print("=", *a, "")
	}
	return nil
}

// difference returns the first difference between two files, or "".
func (c *diffCommand) difference(a, b tree.Node) (string, error) {
	if !c.ignoreSize || c.content {
		sizeA, err := a.Size()
		if err != nil {
			return "", err
		}
		sizeB, err := b.Size()
		if err != nil {
			return "", err
		}
		if sizeA != sizeB && sizeA >= 0 && sizeB >= 0 {
			return fmt.Sprintf("%d and %d bytes", sizeA, sizeB), nil
		}
	}
	if at, bt := a.Entry.Time, b.Entry.Time; c.times && !at.IsZero() && !bt.IsZero() && !sameTime(at, bt) {
		return at.UTC().Format(time.RFC3339) + " and " + bt.UTC().Format(time.RFC3339), nil
	}
	if !c.content {
		return "", nil
	}
	digestA, err := digest(c.first, a)
	if err != nil {
		return "", err
	}
	digestB, err := digest(c.second, b)
	if err == nil && digestA != digestB {
		return "different content", nil
	}
	return "", err
}

// sameTime reports whether two times are equal to the precision of the listings.
// A listing can have times in seconds, minutes or days.
func sameTime(a, b time.Time) bool {
	precision := time.Second
	for _, t := range []time.Time{a.UTC(), b.UTC()} {
		switch {
		case t.Equal(t.Truncate(24 * time.Hour)):
			precision = max(precision, 24*time.Hour)
		case t.Equal(t.Truncate(time.Minute)):
			precision = max(precision, time.Minute)
		}
	}
	return a.Sub(b).Abs() < precision
}

func digest(t *tree.Tree, n tree.Node) (sum [sha256.Size]byte, err error) {
	f, err := t.FS.Open(n.Path)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, fs.File(f)); err != nil {
		return sum, err
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// print prints a line and counts a difference.
func (c *diffCommand) print(mark string, n tree.Node, reason string) error {
	if mark != "=" {
		c.different++
	}
	path := n.Path
	if n.Dir {
		path += "/"
	}
	if c.json {
		return console.LocalError(console.Encode(c.out, struct {
			Mark   string `json:"mark"`
			Path   string `json:"path"`
			Reason string `json:"reason,omitempty"`
		}{mark, path, reason}))
	}
	line := mark + "\t" + tty.Escape(path)
	if reason != "" {
		line += "\t" + reason
	}
	return console.LocalError(console.WriteLine(c.out, line))
}
