package archivecmd

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/warc"
	"github.com/spf13/cobra"
)

// A packCommand writes an archive as a WACZ file, or prints its digests.
type packCommand struct {
	*console.Streams
	wacz, title string
	manifest    bool
	text        bool
	store       string
}

func NewPack(r *command.Tree) *cobra.Command {
	return r.Define(&cobra.Command{
		Use:   "pack DIR|--store URL --wacz FILE|--manifest",
		Short: "Make a WACZ file of an archive, or a list of its digests",
		Long: `pack combines the WARC files of an archive and their index in one WACZ file,
which replay software can open. The file lists the HTML pages with their titles
and the listings. It marks the seeds of the newest run, and the first one is the
start page.

With --manifest, pack prints the SHA-256 digest of each file of the archive for
sha256sum. It leaves out fetch.db, lock, tmp/ and manifest-sha256.txt.`,
		Example: command.Examples("fetch pack example.org --wacz example.wacz",
			"cd example.org && fetch pack . --manifest | sha256sum -c"),
	}, &packCommand{Streams: r.Streams})
}

func (c *packCommand) Register(s *options.Set) {
	p := s.Own("Flags")
	p.StringVar(&c.wacz, "wacz", "", "write the WARC files and their index to `FILE`")
	p.StringVar(&c.title, "title", "", "set the title of the WACZ file to `TEXT`")
	p.BoolVar(&c.text, "text", false, "add the text of the HTML pages to the WACZ file, for full-text search")
	p.StringVar(&c.store, "store", "", "pack all WARC files in the store at `URL`")
	p.BoolVar(&c.manifest, "manifest", false, "print the digests of all files for sha256sum -c")
	command.RegisterIgnored(s)
}

func (c *packCommand) Run(ctx context.Context, args []string) error {
	if c.manifest == (c.wacz != "") {
		return fetch.Usage.Errorf("fetch pack requires either --wacz FILE or --manifest")
	}
	switch {
	case c.store != "" && (c.manifest || len(args) > 0):
		return fetch.Usage.Errorf("--store excludes --manifest and the directory of an archive")
	case c.store != "":
		archive, err := clientflags.OpenArchives(c.Streams, ctx, c.store)
		if err != nil {
			return err
		}
		return c.writeArchive(archive, nil)
	case len(args) != 1:
		return fetch.Usage.Errorf("fetch pack requires the directory of an archive, or --store")
	}
	return mirror.WhileIdle(args[0], func() error {
		if c.manifest {
			return c.printManifest(args[0])
		}
		return c.writeWACZ(ctx, args[0])
	})
}

// printManifest prints the digests of all files in an archive. It returns an
// error if dir is not an archive, because sha256sum would accept an empty list.
func (c *packCommand) printManifest(dir string) error {
	if _, err := os.Stat(dir); err != nil {
		return console.LocalError(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "fetch.db")); err != nil {
		return fetch.Local.Errorf("%s is not an archive: it has no fetch.db", dir)
	}
	w, flush := terminal.NewWriter(c.Stdout)
	return console.FlushAfter(mirror.Manifest(w, dir), flush)
}

// writeWACZ writes the WARC files of an archive to a WACZ file. It skips
// unfinished WARC files, which may end with a partial record, and prints a note
// for each.
func (c *packCommand) writeWACZ(ctx context.Context, dir string) (err error) {
	names, err := c.files(dir)
	if err != nil {
		return err
	}
	archive, err := warc.Open(names...)
	if err != nil {
		return err
	}
	return c.writeArchive(archive, c.seeds(ctx, dir))
}

// files returns the paths of the finished WARC files that warc.Open reads.
func (c *packCommand) files(dir string) (names []string, err error) {
	files, err := regularfile.FilesIn(dir, warc.IsFileName, ".", "warc", "archive")
	if err != nil {
		return nil, console.LocalError(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, warc.OpenSuffix) {
			c.Note("%s is skipped, because its run was interrupted; run fetch mirror again to finish the file", name)
		} else {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, fetch.Local.Errorf("%s contains no WARC files; a mirror has some if it was made with --warc", dir)
	}
	return names, nil
}

// writeArchive writes a WACZ file with the WARC files of an archive, and closes
// the archive.
func (c *packCommand) writeArchive(archive *warc.Archive, seeds []string) error {
	defer archive.Close()
	f, err := save.Create(c.wacz, save.Options{})
	if err != nil {
		return err
	}
	defer f.Close()
	if err := archive.Pack(f, warc.Package{Title: c.title, Text: c.text, Seeds: seeds}); err != nil {
		return err
	}
	return f.Commit()
}

// seeds returns the seed URLs of the archive. It returns nil if the database
// cannot be read, because the WACZ file does not require seeds.
func (c *packCommand) seeds(ctx context.Context, dir string) []string {
	if _, err := os.Stat(filepath.Join(dir, "fetch.db")); err != nil {
		return nil
	}
	seeds, err := mirror.Open(mirror.Location{Dir: dir}).Seeds(ctx)
	if err != nil {
		c.Note("no page is marked as a seed: %v", err)
	}
	return seeds
}
