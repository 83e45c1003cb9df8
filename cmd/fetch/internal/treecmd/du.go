package treecmd

import (
	"bufio"
	"context"
	"fmt"
	"io"

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

// A duCommand prints the sizes of directories.
type duCommand struct {
	clients
	depth     int
	summarize bool
	all       bool
	human     bool
	json      bool
	order     listing.Order
	sorted    *listing.Sorter // the lines of one argument, if they are sorted
	help      func() error    // prints the help
}

// NewDu returns the command fetch du.
func NewDu(r *command.Tree) *cobra.Command {
	c := &duCommand{clients: clients{Streams: r.Streams}}
	cmd := r.Define(&cobra.Command{
		Use:   "du [flags] URL|DIR...",
		Short: "Sum the sizes of all files below a URL",
		Long: `du prints the size of each directory below the URL in bytes, with everything
below the directory. The last line is the sum of the URL, unless --sort is set. On a
terminal, sizes have units. If a listing does not state the exact size of a file,
du sends a request for the file. As in du(1), -a, -d, -h and -s are the letters of --all, --max-depth,
--human-readable and --summarize. -h without a URL prints this help.`,
		Example: command.Examples("fetch du -sh ftp://ftp.example.org/pub/", "fetch du --max-depth 1 --sort size sftp://alice@example.org/~/"),
	}, c)
	c.help = cmd.Help
	return cmd
}

// Register registers the flags of the command.
func (c *duCommand) Register(s *options.Set) {
	p := s.Own("Flags")
	p.IntVarP(&c.depth, "max-depth", "d", -1, "print only directories at most `N` levels below the URL")
	p.BoolVarP(&c.summarize, "summarize", "s", false, "print only the sum of each URL")
	p.BoolVarP(&c.all, "all", "a", false, "print the sizes of files too")
	p.BoolVarP(&c.human, "human-readable", "h", false, "print sizes with units, such as 1.5 MiB (default on a terminal)")
	p.BoolVar(&c.json, "json", false, "print each directory as a line of JSON")
	c.order.Register(p)
	c.register(s)
	s.FreeShorthands("ads") // --append, --data and --silent have only long names here
}

// usage is the sum of the files in a directory, and the output of --json.
type usage struct {
	URL         string `json:"url"`
	Bytes       int64  `json:"bytes"`
	Files       int64  `json:"files"`
	Directories int64  `json:"directories"` // below the directory
}

// Run runs the command.
func (c *duCommand) Run(ctx context.Context, args []string) error {
	if len(args) == 0 && c.human {
		return c.help()
	}
	if len(args) == 0 {
		return fetch.Usage.Errorf("fetch du requires a URL or a folder")
	}
	if c.order.By("time") {
		return fetch.Usage.Errorf("du sorts by name or size: directories have no time")
	}
	if err := c.order.Validate(); err != nil {
		return err
	}
	if c.summarize {
		c.depth, c.all = 0, false
	}
	c.human = c.human || terminal.Is(c.Stdout)
	return c.each(ctx, args, c.sum)
}

// sum prints the sums of a tree.
func (c *duCommand) sum(t *tree.Tree, out *bufio.Writer) error {
	if !c.order.IsSet() {
		return c.walk(t, out)
	}
	c.sorted = listing.NewSorter(c.order)
	defer c.sorted.Close()
	return console.FlushAfter(c.walk(t, out), func() error { return c.sorted.Flush(out) })
}

// walk adds the sizes of a tree, and prints the sums. The stack has the sums of the current directory
// and of those above it.
func (c *duCommand) walk(t *tree.Tree, out *bufio.Writer) error {
	var stack []usage
	return t.Walk(tree.Visitor{
		Enter: func(n tree.Node) (bool, error) {
			if n.Dir {
				stack = append(stack, usage{URL: n.Entry.URL.String()})
				return true, nil
			}
			size, err := n.Size()
			if err != nil {
				return false, t.Skip(err)
			}
			top := &stack[len(stack)-1]
			top.Bytes, top.Files = top.Bytes+max(size, 0), top.Files+1
			if !c.all || c.depth >= 0 && n.Depth > c.depth {
				return false, nil
			}
			return false, c.print(out, usage{URL: n.Entry.URL.String(), Bytes: size, Files: 1})
		},
		Leave: func(n tree.Node) error {
			done := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if len(stack) > 0 {
				top := &stack[len(stack)-1]
				top.Bytes, top.Files, top.Directories = top.Bytes+done.Bytes, top.Files+done.Files, top.Directories+done.Directories+1
			}
			if c.depth >= 0 && n.Depth > c.depth {
				return nil
			}
			return c.print(out, done)
		},
	})
}

// print prints a sum, or adds it to the sorted sums.
func (c *duCommand) print(out *bufio.Writer, u usage) error {
	if c.sorted == nil {
		return console.LocalError(c.write(out, u))
	}
	key := fetch.Entry{Name: u.URL, Size: u.Bytes}
	return c.sorted.Add(key, func(w io.Writer, _ fetch.Entry) error { return c.write(w, u) })
}

// write writes the line of a sum.
func (c *duCommand) write(w io.Writer, u usage) error {
	if c.json {
		return console.Encode(w, u)
	}
	_, err := fmt.Fprintf(w, "%s\t%s\n", sizeText(u.Bytes, c.human), tty.Escape(u.URL))
	return err
}
