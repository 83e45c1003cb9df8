package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

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
		Short: "Check every byte of an archive, or of WARC and WACZ files",
		Long: `verify reads archives of fetch mirror, and WARC and WACZ files of whatever origin, to
their last byte, and writes what is wrong with them, a line each. What is only
strange is marked as a note. A file of tree/ that is damaged or missing comes
anew where it is removed and fetch mirror runs again.

Exit codes: 0 all is well; 11 something is damaged; 10 an archive is not
complete: fetch mirror goes on.`,
		Example: `  fetch verify example.org
  fetch verify --json *.warc.gz`,
		Args: atLeastOne("folders of archives, or WARC or WACZ files"),
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
	return fits(c, nil, nil)
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

// verify checks one archive or file, and says so where nothing is wrong.
func (t *findings) verify(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return fetch.Local.With(err)
	}
	before := t.damage
	if info.IsDir() {
		err = t.archive(name)
	} else {
		err = t.file(name)
	}
	switch {
	case errors.Is(err, mirror.ErrIncomplete):
		t.incomplete = fetch.TooLarge.Errorf("%s is not complete: fetch mirror goes on", name)
		return nil
	case err == nil && t.damage == before:
		t.note("%s: nothing is damaged or missing", name)
	}
	return err
}

func (t *findings) archive(dir string) error {
	for f, err := range mirror.Verify(t.ctx, dir) {
		note := ""
		if f.Note {
			note = "note: "
		}
		if err == nil {
			err = t.say(f, f.Note, f.Path+": "+note+f.Text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *findings) file(name string) error {
	for f, err := range warc.Verify(name) {
		if err == nil {
			err = t.say(f, f.Note, f.String())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// say writes a finding, as text or as what it is.
func (t *findings) say(finding any, note bool, text string) error {
	if !note {
		t.damage++
	}
	if t.json {
		return encode(t.stdout, finding)
	}
	_, err := fmt.Fprintln(t.stdout, tty.Escape(text))
	return local(err)
}

func (t *findings) err() error {
	if t.damage > 0 {
		return fetch.Mismatch.Errorf("damaged or missing: %d", t.damage)
	}
	return t.incomplete
}

// index writes the CDXJ index of WARC files.
func (a *app) index() *cobra.Command {
	c := &cobra.Command{
		Use:   "index FILE.warc.gz...|DIR",
		Short: "Write the CDXJ index of WARC files, from them alone",
		Long: `index writes where each record of WARC files is to standard output, sorted, as
pywb and others read it. Of the folder of an archive it writes index/all.cdxj
anew.`,
		Args: atLeastOne("WARC files, or the folder of an archive"),
		RunE: func(_ *cobra.Command, args []string) error {
			if info, err := os.Stat(args[0]); err == nil && info.IsDir() && len(args) == 1 {
				return mirror.Reindex(a.ctx, args[0])
			}
			w, flush := screen(a.stdout)
			return errors.Join(warc.Index(w, args...), local(flush()))
		},
	}
	return fits(c, nil, map[string]string{"output": ": it writes to standard output"})
}

// pack makes files of archives that others take.
func (a *app) pack() *cobra.Command {
	var wacz, title string
	var manifest bool
	c := &cobra.Command{
		Use:   "pack DIR --wacz FILE|--manifest",
		Short: "Make a WACZ file of an archive, or a list of its digests",
		Long: `pack makes one file of the WARC files of an archive and their index, which
replay software opens, or writes the SHA-256 of each file to standard output:
  cd example.org && fetch pack . --manifest | sha256sum -c`,
		Args: exactly(1, "the folder of an archive"),
		RunE: func(_ *cobra.Command, args []string) error {
			if manifest == (wacz != "") {
				return fetch.Usage.Errorf("wants either --wacz FILE or --manifest")
			}
			return mirror.WhileIdle(args[0], func() error {
				if manifest {
					return a.manifest(args[0])
				}
				return a.packWACZ(args[0], wacz, title)
			})
		},
	}
	c.Flags().StringVar(&wacz, "wacz", "", "write the WARC files with their index as `FILE`")
	c.Flags().StringVar(&title, "title", "", "what the WACZ file calls itself")
	c.Flags().BoolVar(&manifest, "manifest", false, "write the digests of tree/ and warc/ to standard output, for sha256sum -c")
	return fits(c, nil, nil)
}

// manifest writes the digests of an archive. A folder that holds none is an
// error: sha256sum would take an empty list for a good one.
func (a *app) manifest(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "fetch.db")); err != nil {
		return fetch.Local.Errorf("%s is no archive: it has no fetch.db", dir)
	}
	w, flush := screen(a.stdout)
	return errors.Join(mirror.Manifest(w, dir), local(flush()))
}

// packWACZ packs the finished WARC files. One that was not finished is left out
// with a note: its end is not known before the next run has cut it.
func (a *app) packWACZ(dir, name, title string) (err error) {
	open, err := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz.open"))
	for _, name := range open {
		a.note("%s is left out: its run was stopped, and fetch mirror continues it", name)
	}
	if err != nil {
		return fetch.Local.With(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz"))
	names = slices.DeleteFunc(names, func(name string) bool { // a link could lead to a file of another archive
		info, err := os.Lstat(name)
		return err != nil || !info.Mode().IsRegular()
	})
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
