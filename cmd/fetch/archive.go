package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/tty"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/warc"
	"github.com/spf13/cobra"
)

// verify accounts for the bytes of archives.
func (a *app) verify() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "verify DIR|FILE...",
		Short: "Check every byte of an archive, or of WARC files",
		Long: `verify reads archives of fetch mirror, and WARC files of whatever origin, to
their last byte, and writes what is wrong with them, a line each. What is only
strange is marked as a note.

Exit codes: 0 all is well; 11 something is damaged; 10 an archive is not
complete: fetch mirror goes on.`,
		Args: atLeastOne("folders of archives or WARC files"),
		RunE: func(_ *cobra.Command, args []string) error {
			t := &findings{app: a, json: asJSON}
			for _, name := range args {
				if err := t.verify(name); err != nil {
					return err
				}
			}
			return t.err()
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one line of JSON a finding")
	return c
}

func atLeastOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fetch.Usage.Errorf("wants %s", what)
		}
		return nil
	}
}

// findings counts what verify has found.
type findings struct {
	*app
	json       bool
	damage     int
	incomplete error
}

func (t *findings) verify(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return fetch.Local.With(err)
	}
	if !info.IsDir() {
		for f, err := range warc.Verify(name) {
			if err != nil {
				return err
			}
			if err := t.say(mirror.Finding{Path: f.File, Text: f.String(), Note: f.Note}); err != nil {
				return err
			}
		}
		return nil
	}
	for f, err := range mirror.Verify(t.ctx, name) {
		switch {
		case err == nil:
			err = t.say(f)
		case err == mirror.ErrIncomplete:
			t.incomplete, err = err, nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *findings) say(f mirror.Finding) (err error) {
	if !f.Note {
		t.damage++
	}
	if t.json {
		return local(json.NewEncoder(t.stdout).Encode(f))
	}
	note := ""
	if f.Note {
		note = "note: "
	}
	_, err = fmt.Fprintf(t.stdout, "%s: %s%s\n", tty.Escape(f.Path), note, tty.Escape(f.Text))
	return local(err)
}

func (t *findings) err() error {
	if t.damage > 0 {
		return fetch.Mismatch.Errorf("%d things are damaged", t.damage)
	}
	return t.incomplete
}

// index writes the CDXJ index of WARC files.
func (a *app) index() *cobra.Command {
	return &cobra.Command{
		Use:   "index FILE.warc.gz...",
		Short: "Write the CDXJ index of WARC files, from them alone",
		Args:  atLeastOne("WARC files, or the folder of an archive"),
		RunE: func(_ *cobra.Command, args []string) error {
			if info, err := os.Stat(args[0]); err == nil && info.IsDir() && len(args) == 1 {
				return mirror.Reindex(a.ctx, args[0])
			}
			return warc.Index(a.stdout, args...)
		},
	}
}

// pack makes files of archives that others take.
func (a *app) pack() *cobra.Command {
	var wacz, title string
	var manifest bool
	c := &cobra.Command{
		Use:   "pack DIR --wacz FILE|--manifest",
		Short: "Make a WACZ file of an archive, or a list of its digests",
		Args:  exactly(1, "the folder of an archive"),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case manifest && wacz == "":
				return mirror.Manifest(a.stdout, args[0])
			case wacz == "" || manifest:
				return fetch.Usage.Errorf("wants either --wacz FILE or --manifest")
			}
			return packWACZ(args[0], wacz, title)
		},
	}
	c.Flags().StringVar(&wacz, "wacz", "", "write the WARC files with their index as `FILE`")
	c.Flags().StringVar(&title, "title", "", "what the WACZ file calls itself")
	c.Flags().BoolVar(&manifest, "manifest", false, "write the digests of tree/ and warc/ to standard output, for sha256sum -c")
	return c
}

func packWACZ(dir, name, title string) (err error) {
	names, err := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz"))
	if err != nil || len(names) == 0 {
		return fetch.Local.Errorf("%s holds no WARC files", dir)
	}
	archive, err := warc.Open(names...)
	if err != nil {
		return err
	}
	defer archive.Close()
	f, err := save.Create(name, save.Options{})
	if err != nil {
		return err
	}
	defer f.Close()
	if err := archive.Pack(f, warc.Package{Title: title}); err != nil {
		return err
	}
	return f.Commit()
}
