package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/anyurl/fetch/cmd/fetch/internal/manual"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/tty"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/warc"
	"github.com/spf13/cobra"
)

// A verifyCommand checks every byte of archives for damage.
type verifyCommand struct {
	*streams
	json       bool
	damage     int   // number of findings that are not notes
	incomplete error // an archive whose mirror has not finished, or nil
}

func (r *commandTree) verify() *cobra.Command {
	return r.define(&cobra.Command{
		Use:   "verify [flags] DIR|FILE...",
		Short: "Check every byte of archives and WARC files",
		Long: `verify reads archives of fetch mirror, and WARC and WACZ files of any program,
and prints one line for each problem. Lines marked as notes report unusual but
valid data. To restore a damaged or missing file of tree/, remove the file and
run fetch mirror again. To restore the index or the manifest, run fetch index.`,
		Example: examples("fetch verify example.org", "fetch verify --json *.warc.gz"),
		Annotations: map[string]string{
			manual.ExitStatus: "0\tno damage\n" +
				"10\tthe archive is not complete (run fetch mirror again)\n" +
				"11\tdamaged or missing data\n",
		},
		Args: minArgs("directories of archives, or WARC or WACZ files"),
	}, &verifyCommand{streams: r.streams})
}

func (c *verifyCommand) register(s *options.Set) {
	s.Own("Flags").BoolVar(&c.json, "json", false, "print each problem as a line of JSON")
	registerIgnored(s)
}

func (c *verifyCommand) run(ctx context.Context, args []string) error {
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
	if info.IsDir() {
		err = c.verifyArchive(ctx, name)
	} else {
		err = c.verifyFile(name)
	}
	switch {
	case errors.Is(err, mirror.ErrIncomplete):
		c.incomplete = fetch.TooLarge.Errorf("%s is not complete: run fetch mirror again", name)
		return nil
	case err == nil && c.damage == before:
		c.note("%s: no damage found", name)
	}
	return err
}

func (c *verifyCommand) verifyArchive(ctx context.Context, dir string) error {
	for f, err := range mirror.Verify(ctx, dir) {
		note := ""
		if f.Note {
			note = "note: "
		}
		text := f.Path + ": " + note + f.Text
		if f.Derived {
			text += " (to write it again: fetch index " + dir + ")"
		}
		if f.Path == "fetch.db" && !f.Note {
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
		return encode(c.stdout, finding)
	}
	_, err := fmt.Fprintln(c.stdout, tty.Escape(text))
	return localError(err)
}
