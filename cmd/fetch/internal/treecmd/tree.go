// Package treecmd implements the commands that read trees of directories over
// every scheme with listings: find, du and diff.
package treecmd

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/arguments"
	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/cmd/fetch/internal/tree"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/wrap"
)

// clients opens the Client of a command and the trees of its arguments.
type clients struct {
	*console.Streams
	flags clientflags.Flags
	hsts  clientflags.HSTSFlags
	tally console.Tally
	open  *clientflags.OpenClient
}

// register registers the flags for the network.
func (c *clients) register(s *options.Set) {
	c.flags.Register(s)
	c.hsts.Register(s)
}

// start opens the Client. The caller must call close.
func (c *clients) start(ctx context.Context) error {
	all, err := c.flags.Schemes()
	if err != nil {
		return err
	}
	c.open, err = c.flags.Open(ctx, c.Streams, clientflags.Spec{Schemes: all, HSTS: &c.hsts, RedirectLogin: true, Transcript: c.Verbose,
		Standard: wrap.Options{Retry: c.flags.RetryOptions(nil), Rate: int64(c.flags.Limits.Rate)}})
	return err
}

// close saves the cookies of -c and closes the Client. It stores an error of the
// file in err, which may already be the exit code of the command.
func (c *clients) close(err *error) {
	if saved := c.open.SaveState(); saved != nil {
		*err = saved
	}
	c.open.Close()
}

// tree returns the tree at a URL, or in a local folder.
func (c *clients) tree(ctx context.Context, text string) (*tree.Tree, error) {
	u, err := c.parse(text)
	if err != nil {
		return nil, err
	}
	req := &fetch.Request{URL: u, Trace: c.Trace()}
	req.Auth = c.open.Logins.Credential(req)
	if req.Header, err = c.flags.HTTP.Fields(); err != nil {
		return nil, err
	}
	return tree.Open(ctx, c.open.Client, req, func(err error) { c.tally.Add(c.Report(ctx, err, console.ErrorSource{})) })
}

// each opens the Client, and calls do with the tree of each argument. It reports the
// error of an argument and continues, unless ctx has ended.
func (c *clients) each(ctx context.Context, args []string, do func(t *tree.Tree, out *bufio.Writer) error) (err error) {
	if err := c.start(ctx); err != nil {
		return err
	}
	defer c.close(&err)
	out := bufio.NewWriter(c.Stdout)
	for _, text := range args {
		t, err := c.tree(ctx, text)
		if err == nil {
			err = do(t, out)
		}
		if err := out.Flush(); err != nil {
			return console.LocalError(err)
		}
		code := 0
		if err != nil {
			code = c.Report(ctx, err, console.ErrorSource{})
		}
		if c.tally.Add(code); ctx.Err() != nil {
			break
		}
	}
	return c.tally.Err()
}

// parse returns the URL of an argument. The name of an existing folder is the
// folder.
func (c *clients) parse(text string) (uri.URI, error) {
	quiet := false
	if info, err := os.Stat(text); err == nil && info.IsDir() {
		quiet = true
		full, err := filepath.Abs(text)
		if err != nil {
			return uri.URI{}, fetch.Local.With(err)
		}
		text = strings.TrimSuffix(filepath.ToSlash(full), "/") + "/"
	}
	return arguments.ParseURL(c.Streams, arguments.Argument{Text: text, Typed: true, Quiet: quiet}, c.flags.Policy.ProtoDefault)
}
