package objectcmd

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/download"
	"github.com/anyurl/fetch/cmd/fetch/internal/listing"
	"github.com/anyurl/fetch/cmd/fetch/internal/objectflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/baseuri"
	"github.com/spf13/cobra"
)

// An lsCommand lists directories, menus, and WARC and WACZ files.
type lsCommand struct {
	*console.Streams
	flags            objectflags.Flags
	format           listing.Flags
	order            listing.Order
	help             func() error // prints the help
	unused           objectflags.Unused
	native, captures bool
	recursive        bool
	dav              bool
	store            string
}

func NewLs(r *command.Tree) *cobra.Command {
	c := &lsCommand{Streams: r.Streams}
	cmd := r.Define(&cobra.Command{
		Use:   "ls [flags] URL|FILE.warc.gz|FILE.wacz...|--store URL",
		Short: "List a directory in the same form for every scheme",
		Long: `ls lists the entries of a directory, menu, newsgroup or mailbox, with kind, size,
time and name. On a terminal, sizes and times have the form of ls -lh, and long
names are cut. For a WARC, ARC or WACZ file, ls lists the objects in the file. A
listing is cached for five minutes, unless it is of http or requires a login.

Entries have the order of the server, or that of --sort. As in ls(1), -l, -h, -t and
-r are the letters of --long, --human-readable, --sort time and --reverse. -h
without a URL prints this help.

With --recursive, ls also lists all directories below the URL, as ls -R does.
fetch find selects files by name, size and time.

With --store, ls lists the captures in the index of a store of WARC files, with date,
media type and URL. The index contains no sizes.

With --archive and --captures, ls lists the captures of each URL, with date,
status, size, digest and media type.`,
		Example: command.Examples("fetch ls ftp://ftp.example.org/pub/",
			"fetch ls -t ftp://ftp.example.org/pub/    # the newest entries first",
			"fetch ls --urls gopher://gopher.example.org/ | fetch --input-file -",
			"fetch ls --archive example.wacz --captures https://example.org/"),
	}, c)
	c.help = cmd.Help
	return cmd
}

func (c *lsCommand) Register(s *options.Set) {
	p := s.Own("Flags")
	c.format.Register(p, "entry")
	c.format.RegisterTable(p)
	c.order.Register(p)
	c.order.RegisterLetters(p)
	p.BoolVar(&c.native, "native", false, "print the listing in the format of the server (permits -o, -D ...)")
	p.BoolVar(&c.captures, "captures", false, "with --archive, list the captures of each URL")
	p.BoolVar(&c.dav, "dav", false, "list http and https URLs with WebDAV")
	p.StringVar(&c.store, "store", "", "list the captures of the WARC files in the store at `URL`")
	p.BoolVarP(&c.recursive, "recursive", "R", false, "list the directories below each directory too")
	c.flags.Register(s)
	c.unused.Hide(s, objectflags.ListingNames)
	s.FreeShorthands("Rlrt") // --remote-time, --list-only, --range and --telnet-option have no effect on ls, or no use
}

func (c *lsCommand) Validate() error {
	if c.native {
		return nil
	}
	return c.unused.Reject("fetch ls", objectflags.NativeAdvice)
}

func (c *lsCommand) Run(ctx context.Context, args []string) error {
	if c.format.Human && len(args) == 0 && c.store == "" && c.flags.Input.File == "" && c.flags.Input.Count() == 0 {
		return c.help()
	}
	if err := errors.Join(c.format.Validate(), c.order.Validate()); err != nil {
		return err
	}
	if c.order.IsSet() && c.native {
		return fetch.Usage.Errorf("--native excludes --sort and --reverse")
	}
	if c.dav && (c.native || c.captures || c.store != "") {
		return fetch.Usage.Errorf("--dav excludes --native, --captures and --store")
	}
	if c.format.JSON && c.native {
		return fetch.Usage.Errorf("--json and --native exclude each other")
	}
	if c.recursive && (c.native || c.captures || c.store != "") {
		return fetch.Usage.Errorf("--recursive excludes --native, --captures and --store")
	}
	if c.store != "" {
		if len(args) > 0 || c.native || c.captures {
			return fetch.Usage.Errorf("--store excludes arguments, --native and --captures")
		}
		return c.listStore(ctx)
	}
	if c.captures {
		if c.native || c.format.URLs {
			return fetch.Usage.Errorf("--captures excludes --native and --urls")
		}
		if len(c.flags.Client.Replay.Archives) == 0 {
			return fetch.Usage.Errorf("--captures requires --archive")
		}
		write := listing.Writer(listing.WriteCapture)
		if c.format.JSON {
			write = c.format.Writer(c.Stdout)
		}
		return download.ForEach(ctx, c.Streams, &c.flags, args, download.Options{Listing: true},
			func(j *download.Job) error { return j.ListCaptures(c.all(write)) })
	}
	if c.native {
		return download.All(ctx, c.Streams, &c.flags, args, true)
	}
	write := c.format.Writer(c.Stdout)
	return download.ForEach(ctx, c.Streams, &c.flags, args, download.Options{Listing: true, DAV: c.dav},
		func(j *download.Job) error {
			if c.recursive {
				return j.ListTree(c.all(write), !c.format.JSON && !c.format.URLs)
			}
			return j.List(c.all(write))
		})
}

// all returns a function that writes a listing in the order of --sort.
func (c *lsCommand) all(write listing.Writer) listing.AllWriter {
	return func(out io.Writer, all iter.Seq2[fetch.Entry, error]) error { return c.order.WriteAll(write, out, all) }
}

// listStore lists the captures of all WARC files in a store.
func (c *lsCommand) listStore(ctx context.Context) error {
	a, err := clientflags.OpenArchives(c.Streams, ctx, c.store)
	if err != nil {
		return err
	}
	defer a.Close()
	return c.order.WriteAll(c.format.Writer(c.Stdout), c.Stdout, func(yield func(fetch.Entry, error) bool) {
		for line, err := range a.Search("", 0) {
			e := fetch.Entry{Name: line.URL, Kind: fetch.Document, Media: line.Media, Size: -1, Extra: map[string]string{}}
			e.Time, _ = time.Parse("20060102150405", line.Timestamp)
			e.URL, _ = baseuri.ParseAbsolute(line.URL)
			for key, value := range map[string]string{"status": line.Status, "digest": line.Digest, "file": line.File} {
				if value != "" {
					e.Extra[key] = value
				}
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	})
}
