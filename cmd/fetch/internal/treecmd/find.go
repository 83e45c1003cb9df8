package treecmd

import (
	"bufio"
	"context"
	"io"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/listing"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
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
	json, long, human bool
	order             listing.Order
	sorted            *listing.Sorter // the lines of one argument, if they are sorted
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

With --long, find also prints kind, size and time, as find -ls. --sort prints the
results of each argument at its end.

Symbolic links to directories are not followed. If a listing does not state the
exact size or the time of a file, --size, --newer and --sort send a request for the
file.`,
		Example: command.Examples("fetch find ftp://ftp.example.org/pub/ --name '*.iso' --size +10M",
			"fetch find ftp://ftp.example.org/pub/ --type f --long --sort size",
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
	p.BoolVar(&c.long, "long", false, "print kind, size, time and URL, as find -ls does")
	p.BoolVar(&c.human, "human-readable", false, "with --long, print sizes with units, such as 1.5M (default on a terminal)")
	c.order.Register(p)
	c.register(s)
}

// Run runs the command.
func (c *findCommand) Run(ctx context.Context, args []string) error {
	if err := c.check(args); err != nil {
		return err
	}
	c.human = c.human || terminal.Is(c.Stdout)
	return c.each(ctx, args, c.find)
}

// find prints the matching nodes of a tree.
func (c *findCommand) find(t *tree.Tree, out *bufio.Writer) error {
	if c.order.IsSet() {
		c.sorted = listing.NewSorter(c.order)
		defer c.sorted.Close()
	}
	err := t.Walk(tree.Visitor{Enter: func(n tree.Node) (bool, error) { return c.visit(t, n, out) }})
	if c.sorted != nil {
		err = console.FlushAfter(err, func() error { return c.sorted.Flush(out) })
	}
	return err
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
	if c.long && c.json {
		return fetch.Usage.Errorf("--long and --json exclude each other")
	}
	if err := c.order.Validate(); err != nil || c.newer == "" {
		return err
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
		return descend, t.Skip(err)
	}
	if ok {
		err = c.print(t, n, out)
	}
	if err == nil && n.Dir {
		err = out.Flush()
	}
	return descend, console.LocalError(err)
}

// print prints a node, or adds it to the sorted nodes.
func (c *findCommand) print(t *tree.Tree, n tree.Node, out *bufio.Writer) error {
	if c.sorted == nil {
		return c.write(out, n.Entry)
	}
	key, err := n.Entry, error(nil)
	key.Name = n.Path
	switch {
	case n.Dir:
	case c.order.By("size"):
		key.Size, err = n.Size()
	case c.order.By("time"):
		key.Time, err = n.Time()
	}
	if err != nil { // the property is unknown, so that the file is printed last
		if err := t.Skip(err); err != nil {
			return err
		}
		key.Size, key.Time = -1, time.Time{}
	}
	return c.sorted.Add(key, func(w io.Writer, _ fetch.Entry) error { return c.write(w, n.Entry) })
}

// write writes the line of an entry.
func (c *findCommand) write(w io.Writer, e fetch.Entry) error {
	name := tty.Escape(e.URL.String())
	switch {
	case c.json:
		return console.Encode(w, e)
	case c.long:
		return listing.WriteRow(w, e, name, c.human)
	}
	return console.WriteLine(w, name)
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
	modified, err := n.Time()
	return err == nil && modified.After(c.after), err
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
