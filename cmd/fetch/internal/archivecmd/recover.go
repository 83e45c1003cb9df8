package archivecmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/manual"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/schemes"
	"github.com/spf13/cobra"
)

// A recoverCommand rebuilds the database of an archive from its other files.
type recoverCommand struct {
	*console.Streams
	force bool
	json  bool
}

func NewRecover(r *command.Tree) *cobra.Command {
	return r.Define(&cobra.Command{
		Use:   "recover [flags] DIR",
		Short: "Create the lost or damaged database of an archive again",
		Long: `recover creates fetch.db, the database of an archive of fetch mirror, again. It
reads crawl.jsonl, the records in warc/ and the files in tree/. It needs no
network. A damaged line of crawl.jsonl or a damaged record is skipped, and their
numbers are printed.

Then run fetch mirror with the URLs of the archive. It requests each object with
its validator, so that the server sends no unchanged object that has a
validator. It finds the URLs that were pending in the pages of the archive.

An old fetch.db is renamed to fetch.db.damaged-TIME. recover removes no file. If
it is killed, run it again.`,
		Example: command.Examples("fetch recover example.org && fetch mirror --warc http://example.org/"),
		Annotations: map[string]string{
			manual.ExitStatus: "0\tthe database is complete; numbers of skipped lines and records may be printed\n" +
				"2\tthe database is not damaged (see --force), or a worker of a shared crawl owns the directory\n" +
				"3\tthe directory is not an archive, or another process uses the archive\n",
		},
		Args: command.ExactArgs(1, "the directory of an archive"),
	}, &recoverCommand{Streams: r.Streams})
}

func (c *recoverCommand) Register(s *options.Set) {
	p := s.Own("Flags")
	p.BoolVar(&c.force, "force", false, "replace a database that is not damaged")
	p.BoolVar(&c.json, "json", false, "print the numbers as a line of JSON")
	command.RegisterIgnored(s)
}

func (c *recoverCommand) Run(ctx context.Context, args []string) error {
	client := fetch.New(fetch.Options{}, schemes.All(schemes.Options{})...)
	defer client.Close()
	dir := args[0]
	r, err := mirror.Recover(ctx, dir, mirror.RecoverOptions{Client: client, Force: c.force})
	switch {
	case errors.Is(err, mirror.ErrIntact):
		return fetch.Usage.Errorf("%s: %w; --force replaces it", dir, err)
	case err != nil:
		return err
	case c.json:
		return console.Encode(c.Stdout, r)
	}
	c.Note("%s: the new database has %d URLs and %d objects", dir, r.URLs, r.Captures)
	if r.Replaced != "" {
		c.Note("the old database is %s", r.Replaced)
	}
	for _, part := range []struct {
		n    int64
		text string
	}{
		{r.DamagedLines, "damaged lines of crawl.jsonl"},
		{r.DamagedRecords, "damaged places in WARC files"},
		{r.LostRecords, "objects whose WARC records are lost; the next run retrieves them again"},
		{r.Unlogged, "objects found only in WARC files"},
	} {
		if part.n > 0 {
			c.Note("%s", fmt.Sprint(part.text, ": ", part.n))
		}
	}
	return nil
}
