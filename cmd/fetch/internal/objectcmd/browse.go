package objectcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/arguments"
	"github.com/anyurl/fetch/cmd/fetch/internal/browse"
	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/download"
	"github.com/anyurl/fetch/cmd/fetch/internal/listing"
	"github.com/anyurl/fetch/cmd/fetch/internal/objectflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/cmd/fetch/internal/page"
	"github.com/anyurl/fetch/cmd/fetch/internal/progress"
	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
	"github.com/anyurl/fetch/wrap"
	"github.com/spf13/cobra"
)

// A browseCommand implements a line-mode browser for all schemes.
type browseCommand struct {
	*console.Streams
	flags  objectflags.Flags
	unused objectflags.Unused
	saved  *progress.Downloads // progress of the file that is being saved, or nil
}

func NewBrowse(r *command.Tree) *cobra.Command {
	return r.Define(&cobra.Command{
		Use:   "browse [flags] [URL|FILE.warc.gz|FILE.wacz]",
		Short: "Browse listings and pages by number",
		Long: `browse prints a listing or page with numbered entries and reads commands. A number
opens an entry. The command h prints the other commands: back, forward, up, search,
save, go, reload and quit.

HTML pages are printed as text with numbered links. On a terminal, a long text is
displayed by the program in $PAGER, or else one screen at a time. Binary objects can be
saved. For a WARC or WACZ file, browse opens the captures in the file.

An entry is a link from a server, so the policy for links applies. The command g
opens any URL that you type. Commands can also come from a file or a pipe.`,
		Example: command.Examples("fetch browse gopher://gopher.example.org/", "fetch browse ftp://ftp.example.org/pub/",
			"fetch browse --archive example.wacz https://example.org/"),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fetch.Usage.Errorf("%s accepts one URL", cmd.CommandPath())
			}
			return nil
		},
	}, &browseCommand{Streams: r.Streams})
}

func (c *browseCommand) Register(s *options.Set) {
	c.flags.Register(s)
	c.unused.Hide(s, objectflags.BrowseNames)
}

func (c *browseCommand) Validate() error {
	return c.unused.Reject("fetch browse", ", which writes to standard output; its command s saves a file")
}

func (c *browseCommand) Run(ctx context.Context, args []string) (err error) {
	url, file := "", ""
	if len(args) > 0 {
		url = args[0]
	}
	archives := &c.flags.Client.Replay.Archives
	switch {
	case clientflags.IsArchive(url):
		file, *archives = url, append(*archives, url)
	case url == "" && len(*archives) == 1 && clientflags.IsArchive((*archives)[0]):
		file = (*archives)[0]
	}
	r, err := download.New(ctx, c.Streams, &c.flags, download.Options{Progress: c.updateProgress})
	if err != nil {
		return err
	}
	defer r.Client.Close()
	var first *page.Page
	if file != "" {
		first, err = archivePage(file)
	}
	if err == nil {
		err = c.browser(r).Run(ctx, url, first)
	}
	err = errors.Join(err, r.Finish())
	if err != nil || terminal.Is(c.Stdin) {
		return err
	}
	return r.Tally.Err()
}

// archivePage returns a listing of the captures in a WARC or WACZ file.
func archivePage(file string) (*page.Page, error) {
	p := page.New(file)
	for e, err := range warc.FileEntries(file) {
		if err != nil {
			return nil, err
		}
		if !p.Add(e, page.Options{}) {
			break
		}
	}
	return p, nil
}

// browser returns a Browser that sends requests with r.
func (c *browseCommand) browser(r *download.Retrieval) *browse.Browser {
	b := &browse.Browser{
		Do: r.Client.Do, Scheme: r.Client.Scheme,
		Typed: func(text string) (*fetch.Request, error) {
			args, err := arguments.Parse(c.Streams, []string{text}, arguments.Options{GlobOff: true,
				DefaultScheme: c.flags.Client.Policy.ProtoDefault})
			if err != nil {
				return nil, err
			}
			return r.NewRequest(args[0])
		},
		Query: func(u uri.URI, words string) (uri.URI, error) {
			return r.Client.Query(u, fetch.Search{Words: words})
		},
		Session: r.BrowserSession,
		Save: func(ctx context.Context, req *fetch.Request, name string) (string, error) {
			return c.save(ctx, r, req, name)
		},
		Report: func(ctx context.Context, err error) {
			r.Tally.Add(r.Report(ctx, err, console.ErrorSource{}))
		},
		OnInterrupt: c.Interrupts.Set,
		In:          browse.NewInput(c.Stdin), Out: c.Stdout,
		Size:  func() (int, int) { return terminal.Width(c.Stdout), terminal.Height(c.Stdout) },
		Color: terminal.Colors(c.Stdout), Palette: listing.EnvironmentPalette(), Links: terminal.Hyperlinks(c.Stdout), Now: time.Now,
		Interactive: terminal.Is(c.Stdin) && terminal.Is(c.Stdout),
	}
	if pager := terminal.Pager(); pager != nil {
		b.Pager = func(_ context.Context, lines func(io.Writer) error) error {
			return terminal.Page(pager, c.Stdout, c.Stderr, lines)
		}
	}
	return b
}

// save saves an object to a file and returns a message for the user. An
// existing file is not replaced.
func (c *browseCommand) save(ctx context.Context, r *download.Retrieval, req *fetch.Request, name string) (_ string, err error) {
	if name == "" {
		if name, err = save.Name(req.URL.Path()); err != nil {
			return "", fetch.Usage.Errorf("the URL has no file name: type s FILE")
		}
	}
	c.saved = progress.NewDownloads()
	end := c.saved.Begin(req.URL.WithoutUserinfo().String())
	stop := c.ShowProgress(&c.flags.Progress, c.saved, (*progress.Snapshot).Text)
	defer func() { end(err); stop(); c.saved = nil }()
	o := save.Options{Existing: save.Refuse, Time: c.flags.File.RemoteTime, Strict: c.flags.File.Strict, Retry: r.Restart}
	if c.flags.File.NoClobber {
		o.Existing = save.Number
	}
	saved, err := save.Fetch(ctx, r.Client.Client, req, name, o)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Saved %d bytes in %s.", saved.Bytes, tty.Escape(saved.Path)), nil
}

// updateProgress records the progress of the file that is being saved.
func (c *browseCommand) updateProgress(e wrap.Event) {
	if c.saved != nil {
		c.saved.Update(e)
	}
}
