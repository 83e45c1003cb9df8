// Package screenshotcmd implements fetch screenshot, which writes pictures of
// archived pages.
package screenshotcmd

import (
	"context"
	"slices"

	"github.com/anyurl/fetch/capture/browser"
	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway/replay"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
	"github.com/spf13/cobra"
)

// A screenshotCommand writes a picture of an archived page, after the scripts of
// the page.
type screenshotCommand struct {
	*console.Streams
	output, form string
	replay       clientflags.ReplayFlags
}

// New returns the command fetch screenshot.
func New(r *command.Tree) *cobra.Command {
	return r.Define(&cobra.Command{
		Use:   "screenshot --archive FILE [flags] URL",
		Short: "Write a picture of an archived page",
		Long: `screenshot opens an archived page in Chromium, which has no network but the
archive, and writes a picture of the page after its scripts. With --as pdf or
--as text, it writes the printed page or its text.`,
		Example: command.Examples("fetch screenshot --archive example.wacz -o page.png https://example.org/",
			"fetch screenshot --archive a.wacz --at 2024 --as text https://example.org/"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fetch.Usage.Errorf("fetch screenshot requires one URL")
			}
			return nil
		},
	}, &screenshotCommand{Streams: r.Streams})
}

// Register registers the flags of the command.
func (c *screenshotCommand) Register(s *options.Set) {
	p := s.Own("Flags")
	p.StringVarP(&c.output, "output", "o", "", "write to `FILE`, or to standard output (-, the default)")
	p.StringVar(&c.form, "as", "screenshot", "write the page as `FORM`: screenshot, pdf or text")
	options.SetValues(p.Lookup("as"), browser.AllCopies()...)
	c.replay.AddTo(p)
	command.RegisterIgnored(s)
}

// Run runs the command.
func (c *screenshotCommand) Run(ctx context.Context, args []string) error {
	u, err := uri.Parse(args[0])
	switch {
	case err != nil:
		return fetch.BadURL.With(err)
	case !replay.IsShown(u):
		return fetch.Usage.Errorf("only pages of http and https have pictures")
	case len(c.replay.Archives) == 0:
		return fetch.Usage.Errorf("fetch screenshot requires --archive FILE")
	case !slices.Contains(browser.AllCopies(), c.form):
		return fetch.Usage.Errorf("--as %s: the forms are screenshot, pdf and text", c.form)
	case c.form != "text" && (c.output == "" || c.output == "-") && terminal.Is(c.Stdout):
		return fetch.Usage.Errorf("the picture is not written to a terminal: use -o FILE")
	}
	a, err := c.replay.Open(ctx, c.Streams)
	if err != nil {
		return err
	}
	defer a.Close()
	if err := isCaptured(a, u); err != nil {
		return err
	}
	data, err := c.copyOf(ctx, a, u)
	if err != nil {
		return err
	}
	if c.output == "" || c.output == "-" {
		_, err := c.Stdout.Write(data)
		return fetch.LocalError(err)
	}
	f, err := save.Create(c.output, save.Options{})
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Commit()
}

// isCaptured returns an error if the archive has no capture of u.
func isCaptured(a *warc.Archive, u uri.URI) error {
	for _, err := range a.Lookup(u) {
		return err
	}
	return fetch.NotFound.Errorf("the archive has no capture of %s", u)
}

// copyOf opens a page in a browser and returns the copy in the form c.form.
func (c *screenshotCommand) copyOf(ctx context.Context, a *warc.Archive, u uri.URI) ([]byte, error) {
	b, err := browser.Open(ctx, browser.Options{Tabs: 1, Copies: []string{c.form}, Child: true})
	if err != nil {
		return nil, fetch.Unsupported.Errorf("no browser: %w", err)
	}
	defer b.Close()
	page, err := b.Visit(ctx, &browser.Visit{
		URL: u.WithoutUserinfo().WithoutFragment().Unredacted(), Handler: &replay.Proxy{Archives: []replay.Archive{{Source: a}}},
	})
	switch {
	case ctx.Err() != nil:
		return nil, fetch.Canceled.With(context.Cause(ctx))
	case err != nil:
		return nil, fetch.Protocol.With(err)
	}
	for _, n := range page.Notes {
		c.Note("%s: %s", u, n)
	}
	for _, made := range page.Copies {
		if made.Name == c.form {
			return made.Data, nil
		}
	}
	return nil, fetch.Protocol.Errorf("the browser made no %s of %s", c.form, u)
}
