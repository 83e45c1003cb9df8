package treecmd

import (
	"bufio"
	"context"
	"fmt"

	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
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
}

// NewDu returns the command fetch du.
func NewDu(r *command.Tree) *cobra.Command {
	return r.Define(&cobra.Command{
		Use:   "du [flags] URL|DIR...",
		Short: "Sum the sizes of all files below a URL",
		Long: `du prints the size of each directory below the URL in bytes, with everything
below the directory. The last line is the sum of the URL. On a terminal, sizes have
units. If a listing does not state the exact size of a file, du sends a request for
the file.`,
		Example: command.Examples("fetch du --summarize ftp://ftp.example.org/pub/", "fetch du --max-depth 1 sftp://alice@example.org/~/"),
	}, &duCommand{clients: clients{Streams: r.Streams}})
}

// Register registers the flags of the command.
func (c *duCommand) Register(s *options.Set) {
	p := s.Own("Flags")
	p.IntVar(&c.depth, "max-depth", -1, "print only directories at most `N` levels below the URL")
	p.BoolVar(&c.summarize, "summarize", false, "print only the sum of each URL")
	p.BoolVar(&c.all, "all", false, "print the sizes of files too")
	p.BoolVar(&c.human, "human-readable", false, "print sizes with units, such as 1.5 MiB (default on a terminal)")
	p.BoolVar(&c.json, "json", false, "print each directory as a line of JSON")
	c.flags.Register(s)
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
	if len(args) == 0 {
		return fetch.Usage.Errorf("fetch du requires a URL or a folder")
	}
	if c.summarize {
		c.depth, c.all = 0, false
	}
	if err := c.start(ctx); err != nil {
		return err
	}
	defer c.open.Close()
	c.human = c.human || terminal.Is(c.Stdout)
	out := bufio.NewWriter(c.Stdout)
	for _, text := range args {
		t, err := c.tree(ctx, text)
		if err == nil {
			err = c.sum(t, out)
		}
		if err := out.Flush(); err != nil {
			return console.LocalError(err)
		}
		c.finish(ctx, err)
	}
	return c.tally.Err()
}

// sum prints the sums of a tree. The stack has the sums of the current directory
// and of those above it.
func (c *duCommand) sum(t *tree.Tree, out *bufio.Writer) error {
	var stack []usage
	return t.Walk(tree.Visitor{
		Enter: func(n tree.Node) (bool, error) {
			if n.Dir {
				stack = append(stack, usage{URL: n.Entry.URL.String()})
				return true, nil
			}
			size, err := n.Size()
			if err != nil {
				t.Failed(err)
				return false, nil
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

func (c *duCommand) print(out *bufio.Writer, u usage) error {
	var err error
	if c.json {
		err = console.Encode(out, u)
	} else {
		_, err = fmt.Fprintf(out, "%s\t%s\n", sizeText(u.Bytes, c.human), tty.Escape(u.URL))
	}
	return console.LocalError(err)
}
