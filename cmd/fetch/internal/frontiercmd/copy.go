package frontiercmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/crawlflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/manual"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/mirror/postgres"
	"github.com/spf13/cobra"
)

// A frontierCopyCommand moves the crawl of an archive to PostgreSQL.
type frontierCopyCommand struct {
	*console.Streams
	from, to, worker, store string
	json                    bool
}

func newFrontierCopy(r *command.Tree) *cobra.Command {
	return r.Define(&cobra.Command{
		Use:   "copy --from DIR --to URL [flags]",
		Short: "Move the crawl of an archive to PostgreSQL, for several workers",
		Long: `copy moves a crawl from the database of an archive to a PostgreSQL schema without a
crawl. The crawl may be incomplete. All URLs with their states, captures, validators
and hosts are copied, and so are the scope, the guards and the delays of the crawl.

DIR becomes the directory of the first worker. Its WARC files stay in DIR, and
fetch.db is renamed to fetch.db.copied. Other workers can join with new directories.
DIR must have no tree/, because a shared crawl has none. Settings that a shared
crawl lacks are named: --mailboxes, --delete and the limits of one run. With --store,
the first worker also uploads the WARC files of DIR.

copy copies the complete crawl or nothing. If it was killed, run it again.`,
		Example: command.Examples("fetch frontier copy --from news --to 'postgres://db.example.org/crawls'",
			"fetch frontier copy --from news \\\n    --to 'postgres://db.example.org/crawls?search_path=news'"),
		Annotations: map[string]string{
			manual.ExitStatus: "0\tthe crawl is in PostgreSQL\n" +
				"2\tthe schema has a crawl, or DIR has a tree or is the directory of a worker\n" +
				"3\tDIR is not an archive, or another process uses it, or the database failed\n",
		},
		Args: command.ExactArgs(0, "--from DIR and --to URL, and no other argument"),
	}, &frontierCopyCommand{Streams: r.Streams})
}

func (c *frontierCopyCommand) Register(s *options.Set) {
	p := s.Own("Flags")
	p.StringVar(&c.from, "from", "", "copy the crawl of the archive in `DIR`")
	p.StringVar(&c.to, "to", "", "copy the crawl to the PostgreSQL schema at `URL` (or set FETCH_FRONTIER)")
	p.StringVar(&c.worker, "worker", "", "make the directory that of the worker `NAME` (default the host name)")
	p.StringVar(&c.store, "store", "", "let the workers upload their WARC files to the store at `URL`")
	p.BoolVar(&c.json, "json", false, "print the result as JSON")
	command.RegisterIgnored(s)
}

func (c *frontierCopyCommand) Run(ctx context.Context, _ []string) error {
	to := crawlflags.FrontierURL(c.to)
	switch {
	case c.from == "":
		return fetch.Usage.Errorf("fetch frontier copy requires --from DIR")
	case to == "":
		return fetch.Usage.Errorf("fetch frontier copy requires --to URL, or FETCH_FRONTIER")
	}
	done, err := mirror.CopyFrontier(ctx, c.from, mirror.CopyOptions{Frontier: postgres.New(to), Worker: c.worker, Store: clientflags.StoreAt(c.store)})
	switch {
	case err != nil:
		return crawlflags.AdviseArchive(c.from, err)
	case c.json:
		return c.PrintJSON(done)
	}
	c.Note("copied: %s; %s is renamed to %s", copiedText(&done), "fetch.db", done.Renamed)
	if len(done.Dropped) > 0 {
		c.Note("a shared crawl does not have these settings of the archive: --%s", strings.Join(done.Dropped, ", --"))
	}
	if done.Unstored {
		c.Note("%s has no options.json: start the workers with the URLs and the settings of the crawl", c.from)
	}
	store := ""
	if c.store != "" {
		store = " --store '" + c.store + "'"
	}
	c.Note("to continue: set FETCH_FRONTIER and run fetch mirror --worker %s --output-dir %s%s "+
		"(and the URLs of hosts with private addresses)", done.Worker, c.from, store)
	return nil
}

// copiedText formats the counters of a copied crawl as text.
func copiedText(c *mirror.Copied) string {
	return fmt.Sprintf("%d URLs, of which %d are pending, %d captures and %d WARC files",
		c.URLs, c.States[mirror.Pending], c.Captures, c.Files)
}
