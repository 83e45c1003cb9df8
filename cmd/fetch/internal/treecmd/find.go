package treecmd

import (
	"bufio"
	"context"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/cmd/fetch/internal/tree"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/spf13/cobra"
)

// A findCommand prints the files and directories below URLs that match all
// conditions.
type findCommand struct {
	clients
	name, iname, path string
	kind              string
	size              sizeCondition
	newer             string
	after             time.Time // value of newer
	depth             int
	json              bool
}

// NewFind returns the command fetch find.
func NewFind(r *command.Tree) *cobra.Command {
	return r.Define(&cobra.Command{
		Use:   "find [flags] URL|DIR...",
		Short: "Find files below a URL by name, size and time",
		Long: `find lists a directory and all directories below it, and prints the URL of each
file and directory that matches all conditions. The URLs can be the input of
another command (--input-file -). It works over every scheme with listings, such as
ftp, sftp, nfs, file and the directory pages of web servers.

Symbolic links to directories are not followed. If a listing does not state the
exact size or the time of a file, --size and --newer send a request for the file.`,
		Example: command.Examples("fetch find ftp://ftp.example.org/pub/ --name '*.iso' --size +10M",
			"fetch find https://example.org/a/ --newer 2026-01-01 | fetch -O --input-file -"),
	}, &findCommand{clients: clients{Streams: r.Streams}})
}

// Register registers the flags of the command.
func (c *findCommand) Register(s *options.Set) {
	c.depth = -1
	p := s.Own("Flags")
	p.StringVar(&c.name, "name", "", "only names that match `GLOB`, such as '*.iso'")
	p.StringVar(&c.iname, "iname", "", "only names that match `GLOB`, in upper or lower case")
	p.StringVar(&c.path, "path", "", "only paths below the URL that match `GLOB`; * also matches slashes")
	p.StringVar(&c.kind, "type", "", "only `TYPE`: f for files, d for directories")
	options.SetValues(p.Lookup("type"), "f", "d")
	p.Var(&c.size, "size", "only files of more (+N), less (-N) or exactly N `BYTES`, such as +10M")
	p.StringVar(&c.newer, "newer", "", "only files that are newer than `DATE|FILE`")
	p.IntVar(&c.depth, "max-depth", -1, "descend at most `N` levels below the URL")
	p.BoolVar(&c.json, "json", false, "print each entry as a line of JSON")
	c.flags.Register(s)
}

// Run runs the command.
func (c *findCommand) Run(ctx context.Context, args []string) error {
	if err := c.check(args); err != nil {
		return err
	}
	if err := c.start(ctx); err != nil {
		return err
	}
	defer c.open.Close()
	out := bufio.NewWriter(c.Stdout)
	for _, text := range args {
		t, err := c.tree(ctx, text)
		if err == nil {
			err = t.Walk(tree.Visitor{Enter: func(n tree.Node) (bool, error) { return c.visit(t, n, out) }})
		}
		if err := out.Flush(); err != nil {
			return console.LocalError(err)
		}
		c.finish(ctx, err)
	}
	return c.tally.Err()
}

func (c *findCommand) check(args []string) error {
	if len(args) == 0 {
		return fetch.Usage.Errorf("fetch find requires a URL or a folder")
	}
	if c.kind != "" && c.kind != "f" && c.kind != "d" {
		return fetch.Usage.Errorf("--type is f or d, not %q", c.kind)
	}
	for _, glob := range []string{c.name, c.iname, c.path} {
		if _, err := path.Match(glob, ""); err != nil {
			return fetch.Usage.Errorf("the pattern %q is malformed", glob)
		}
	}
	if c.newer == "" {
		return nil
	}
	var ok bool
	if c.after, ok = options.ParseDate(c.newer); ok {
		return nil
	}
	info, err := os.Stat(c.newer)
	if err != nil {
		return fetch.Usage.Errorf("--newer %s is neither a date nor a file", c.newer)
	}
	c.after = info.ModTime()
	return nil
}

// visit prints a node if it matches. It reports whether its directory is within
// the maximum depth.
func (c *findCommand) visit(t *tree.Tree, n tree.Node, out *bufio.Writer) (descend bool, err error) {
	descend = c.depth < 0 || n.Depth < c.depth
	ok, err := c.matches(n)
	if err != nil { // the properties of one file cannot be requested
		t.Failed(err)
		return descend, nil
	}
	switch {
	case !ok:
	case c.json:
		err = console.Encode(out, n.Entry)
	default:
		err = console.WriteLine(out, tty.Escape(n.Entry.URL.String()))
	}
	if err == nil && n.Dir {
		err = out.Flush()
	}
	return descend, console.LocalError(err)
}

// matches reports whether a node fulfills all conditions. Conditions that need a
// request are checked last.
func (c *findCommand) matches(n tree.Node) (bool, error) {
	name := path.Base(n.Path)
	switch {
	case c.kind == "f" && n.Dir, c.kind == "d" && !n.Dir:
		return false, nil
	case c.name != "" && !match(c.name, name):
		return false, nil
	case c.iname != "" && !match(strings.ToLower(c.iname), strings.ToLower(name)):
		return false, nil
	case c.path != "" && !matchPath(c.path, n.Path):
		return false, nil
	case n.Dir:
		return !c.size.set && c.newer == "", nil
	}
	if c.size.set {
		size, err := n.Size()
		if err != nil || !c.size.matches(size) {
			return false, err
		}
	}
	if c.newer == "" {
		return true, nil
	}
	if n.Entry.Time.IsZero() {
		info, err := n.DirEntry.Info()
		return err == nil && info.ModTime().After(c.after), err
	}
	return n.Entry.Time.After(c.after), nil
}

func match(glob, name string) bool {
	ok, err := path.Match(glob, name)
	return ok && err == nil // check has rejected malformed patterns
}

// matchPath is like match, but * and ? match slashes too, as in find -path.
func matchPath(glob, name string) bool {
	hide := func(text string) string { return strings.ReplaceAll(text, "/", "\x00") }
	return match(hide(glob), hide(name))
}

// A sizeCondition is the value of --size.
type sizeCondition struct {
	text string
	set  bool
	sign byte // '+', '-' or 0
	size options.Bytes
}

func (s *sizeCondition) String() string { return s.text }

// Set parses a number of bytes with an optional sign.
func (s *sizeCondition) Set(text string) error {
	number := text
	*s = sizeCondition{text: text, set: true}
	if strings.HasPrefix(text, "+") || strings.HasPrefix(text, "-") {
		s.sign, number = text[0], text[1:]
	}
	if number == "0" {
		return nil
	}
	return s.size.Set(number)
}

// Type returns the type name that pflag shows in help texts.
func (*sizeCondition) Type() string { return "size" }

func (s *sizeCondition) matches(size int64) bool {
	switch s.sign {
	case '+':
		return size > int64(s.size)
	case '-':
		return size < int64(s.size)
	}
	return size == int64(s.size)
}

// sizeText formats a number of bytes for a terminal or for a program.
func sizeText(n int64, human bool) string {
	if human {
		return console.SizeText(n)
	}
	return strconv.FormatInt(n, 10)
}
