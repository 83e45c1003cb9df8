package main

import (
	"context"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/spf13/cobra"
)

// An lsCommand lists directories, menus, and WARC and WACZ files.
type lsCommand struct {
	*streams
	flags            objectFlags
	format           listingFlags
	native, captures bool
}

func (r *commandTree) ls() *cobra.Command {
	return r.define(&cobra.Command{
		Use:   "ls [flags] URL|FILE.warc.gz|FILE.wacz...",
		Short: "List a directory in the same form for every scheme",
		Long: `ls lists the entries of a directory, menu, newsgroup or mailbox, with kind, size,
time and name. On a terminal, sizes and times have the form of ls -lh, and long
names are cut. For a WARC or WACZ file, ls lists the objects in the file. A
listing is cached for five minutes, unless it is of http or requires a login.

With --archive and --captures, ls lists the captures of each URL, with date,
status, size, digest and media type.`,
		Example: examples("fetch ls ftp://ftp.example.org/pub/",
			"fetch ls --urls gopher://gopher.example.org/ | fetch --input-file -",
			"fetch ls --archive example.wacz --captures https://example.org/"),
	}, &lsCommand{streams: r.streams})
}

func (c *lsCommand) register(s *options.Set) {
	p := s.Own("Flags")
	c.format.register(p, "entry")
	p.BoolVar(&c.native, "native", false, "print the listing in the format of the server")
	p.BoolVar(&c.captures, "captures", false, "with --archive, list the captures of each URL")
	c.flags.register(s)
}

func (c *lsCommand) validate() error {
	if c.native {
		return nil
	}
	return c.flags.body.reject("fetch ls")
}

func (c *lsCommand) run(ctx context.Context, args []string) error {
	if c.format.json && c.native {
		return fetch.Usage.Errorf("--json and --native exclude each other")
	}
	if c.captures {
		if c.native || c.format.urls {
			return fetch.Usage.Errorf("--captures excludes --native and --urls")
		}
		if len(c.flags.client.replay.archives) == 0 {
			return fetch.Usage.Errorf("--captures requires --archive")
		}
		write := entryWriter(writeCapture)
		if c.format.json {
			write = c.format.writer(c.stdout)
		}
		return c.flags.forEach(ctx, c.streams, args, retrievalOptions{listing: true},
			func(j *job) error { return j.listCaptures(write) })
	}
	if c.native {
		return c.flags.download(ctx, c.streams, args, true)
	}
	write := c.format.writer(c.stdout)
	return c.flags.forEach(ctx, c.streams, args, retrievalOptions{listing: true},
		func(j *job) error { return j.list(write) })
}
