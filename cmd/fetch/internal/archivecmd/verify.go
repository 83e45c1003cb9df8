// Package archivecmd implements the commands for archives and WARC files:
// verify, recover, index, pack and export.
package archivecmd

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/crawlflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/manual"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/mirror/postgres"
	"github.com/anyurl/fetch/warc"
	"github.com/spf13/cobra"
)

// A verifyCommand checks every byte of archives for damage.
type verifyCommand struct {
	*console.Streams
	json       bool
	heal       bool
	maxLost    options.Share
	dsn, store string
	damage     int   // number of findings that are not notes
	incomplete error // reports an archive whose mirror has not finished, or nil
}

func NewVerify(r *command.Tree) *cobra.Command {
	return r.Define(&cobra.Command{
		Use:   "verify [flags] [DIR|FILE...]",
		Short: "Check every byte of archives and WARC files",
		Long: `verify reads archives of fetch mirror, and WARC, ARC and WACZ files of any program,
and prints one line for each problem. Lines marked as notes report unusual but
valid data.

With --heal, verify first repairs archives, without a network. It copies the
intact records of a damaged WARC file to a new file, restores files of tree/ from
WARC records, and writes the index and the manifest. It moves damaged files to
attic/. It marks the URLs of lost objects, so that the next fetch mirror retrieves
them. Objects that were deleted on the server stay in the archive. If the
database is damaged, run fetch recover instead.

With --frontier and --store, verify reads all WARC files in the store of a shared
crawl. It compares their sizes, digests and records with the database. Notes
list the files that wait for their upload, and the objects in the store that are no
part of the crawl. With --store alone, verify checks the records of all WARC files in
the store, and compares their bytes with the digests in the metadata of the objects.
FETCH_FRONTIER then has no effect.`,
		Example: command.Examples("fetch verify example.org", "fetch verify --json *.warc.gz",
			"fetch verify --heal example.org; fetch mirror --output-dir example.org"),
		Annotations: map[string]string{
			manual.ExitStatus: "0\tno damage\n" +
				"10\tthe archive is not complete (run fetch mirror again)\n" +
				"11\tdamaged or missing data\n",
		},
	}, &verifyCommand{Streams: r.Streams})
}

func (c *verifyCommand) Register(s *options.Set) {
	c.maxLost = 0.1
	p := s.Own("Flags")
	p.BoolVar(&c.json, "json", false, "print each problem as a line of JSON")
	p.BoolVar(&c.heal, "heal", false, "repair archives before the check")
	crawlflags.RegisterFrontier(s, &c.dsn)
	crawlflags.RegisterStore(s, &c.store, "verify the WARC files at `URL`")
	p.Var(&c.maxLost, "max-lost", "with --heal, accept at most `SHARE` of missing records")
	command.RegisterIgnored(s)
}

func (c *verifyCommand) Run(ctx context.Context, args []string) error {
	switch {
	case len(args) == 0 && c.store != "" && c.dsn == "" && !c.heal: // FETCH_FRONTIER has no effect
		if err := c.verifyStore(ctx); err != nil {
			return err
		}
	case len(args) == 0 && crawlflags.FrontierURL(c.dsn) != "" && !c.heal:
		if err := c.verifyCrawl(ctx); err != nil {
			return err
		}
	case len(args) == 0, c.dsn != "", c.store != "":
		return fetch.Usage.Errorf("verify requires directories of archives, or WARC or WACZ files, or --frontier or --store without --heal")
	}
	for _, name := range args {
		if err := c.verify(ctx, name); err != nil {
			return err
		}
	}
	if c.damage > 0 {
		return fetch.Mismatch.Errorf("damaged or missing: %d", c.damage)
	}
	return c.incomplete
}

// verify checks one archive or WARC file. It prints a note if there is no
// damage.
func (c *verifyCommand) verify(ctx context.Context, name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return fetch.Local.With(err)
	}
	before := c.damage
	switch {
	case !info.IsDir() && c.heal:
		err = fetch.Usage.Errorf("--heal requires directories of archives: %s is a file", name)
	case !info.IsDir():
		err = c.verifyFile(name)
	default:
		if c.heal {
			err = c.healArchive(ctx, name)
		}
		if err == nil {
			err = c.verifyArchive(ctx, name)
		}
	}
	return c.conclude(name, before, err)
}

// conclude prints a note if the check of an archive found no damage. The
// parameter before is the number of findings before the check.
func (c *verifyCommand) conclude(name string, before int, err error) error {
	switch {
	case errors.Is(err, mirror.ErrIncomplete):
		c.incomplete = fetch.TooLarge.Errorf("%s is not complete: run fetch mirror again", name)
		return nil
	case err == nil && c.damage == before:
		c.Note("%s: no damage found", name)
	}
	return err
}

// verifyCrawl checks the store of a shared crawl.
func (c *verifyCommand) verifyCrawl(ctx context.Context) error {
	before := c.damage
	crawl := mirror.Location{Frontier: postgres.New(crawlflags.FrontierURL(c.dsn)), Store: clientflags.StoreAt(c.store)}
	for f, err := range mirror.Open(crawl).Verify(ctx) {
		if err == nil {
			text := f.Path + ": " + f.Text
			if f.Note {
				text = f.Path + ": note: " + f.Text
			}
			err = c.printFinding(f, f.Note, text)
		}
		if err != nil {
			return c.conclude("the crawl", before, crawlflags.AdviseStore(err))
		}
	}
	return c.conclude("the crawl", before, nil)
}

// healArchive repairs an archive and prints each repair.
func (c *verifyCommand) healArchive(ctx context.Context, dir string) error {
	requeued, err := mirror.Heal(ctx, dir, mirror.HealOptions{
		MaxLost: float64(c.maxLost), Report: func(f mirror.Finding) {
			if f.Note {
				c.Note("repaired %s: %s", f.Path, f.Text)
			} else {
				c.Note("not repaired %s: %s", f.Path, f.Text)
			}
		},
	})
	if requeued > 0 {
		c.Note("%s: the next fetch mirror retrieves %d objects again", dir, requeued)
	}
	return crawlflags.AdviseArchive(dir, err)
}

func (c *verifyCommand) verifyArchive(ctx context.Context, dir string) error {
	for f, err := range mirror.Open(mirror.Location{Dir: dir}).Verify(ctx) {
		note := ""
		if f.Note {
			note = "note: "
		}
		text := f.Path + ": " + note + f.Text
		switch {
		case f.Derived:
			text += " (to write it again: fetch index " + dir + ")"
		case f.Path == "fetch.db" && !f.Note:
			text += " (to create it again: fetch recover " + dir + ")"
		}
		if err == nil {
			err = c.printFinding(f, f.Note, text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *verifyCommand) verifyFile(name string) error {
	for f, err := range warc.Verify(name) {
		if err == nil {
			err = c.printFinding(f, f.Note, f.String())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// printFinding prints one problem that a check has found, as text or as JSON.
func (c *verifyCommand) printFinding(finding any, note bool, text string) error {
	if !note {
		c.damage++
	}
	if c.json {
		return console.Encode(c.Stdout, finding)
	}
	_, err := fmt.Fprintln(c.Stdout, tty.Escape(text))
	return console.LocalError(err)
}
