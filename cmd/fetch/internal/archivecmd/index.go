package archivecmd

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/crawlflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/warc"
	"github.com/spf13/cobra"
)

// An indexCommand writes a CDXJ index of WARC files.
type indexCommand struct {
	*console.Streams
	store string
	print bool
	text  bool
}

func NewIndex(r *command.Tree) *cobra.Command {
	return r.Define(&cobra.Command{
		Use:   "index FILE...|DIR|--store URL",
		Short: "Write the CDXJ index of WARC files",
		Long: `index writes a sorted CDXJ index of WARC files to standard output, in the format
of pywb. If the argument is the directory of an archive, index replaces the
files of index/ and manifest-sha256.txt in the archive.

With --text, index writes an index of the words in the texts of the archive to the
file ARCHIVE.textindex. fetch search --text and fetch serve use it. If the file exists,
index adds only the texts that it does not have.

With --store, index writes an object index/FILE.cdxj for each WARC file in the store
that has none. Other commands then read single records of the store. With --print,
index prints the index of all WARC files in the store and writes nothing.`,
		Example: command.Examples("fetch index *.warc.gz > all.cdxj", "fetch index example.org", "fetch index --text example.org",
			"fetch index --store 's3://warcs/news?region=eu-west-1'"),
	}, &indexCommand{Streams: r.Streams})
}

func (c *indexCommand) Register(s *options.Set) {
	p := s.Own("Flags")
	p.StringVar(&c.store, "store", "", "write the missing indexes of the WARC files in the store at `URL`")
	p.BoolVar(&c.print, "print", false, "with --store, print the index of all WARC files instead")
	p.BoolVar(&c.text, "text", false, "write an index of the words in the texts to ARCHIVE.textindex")
	command.RegisterIgnored(s)
}

func (c *indexCommand) Advice(flag string) string {
	if flag == "output" {
		return "the index is written to standard output"
	}
	return ""
}

func (c *indexCommand) Run(ctx context.Context, args []string) error {
	switch {
	case c.store == "" && (len(args) == 0 || c.print), c.store != "" && len(args) > 0:
		return fetch.Usage.Errorf("fetch index requires WARC files, or the directory of an archive, or --store")
	case c.text && c.store != "":
		return fetch.Usage.Errorf("--text requires an archive on this machine")
	case c.text:
		return c.indexTexts(ctx, args)
	case c.print:
		return c.printIndex(ctx)
	case c.store != "":
		return c.storeIndexes(ctx)
	}
	if info, err := os.Stat(args[0]); err == nil && info.IsDir() && len(args) == 1 {
		return crawlflags.AdviseArchive(args[0], mirror.Reindex(ctx, args[0]))
	}
	for _, name := range args {
		switch strings.ToLower(filepath.Ext(name)) {
		case ".har", ".mhtml", ".mht":
			return fetch.Usage.Errorf("%s has no WARC records: fetch import converts it to a WARC file", name)
		}
	}
	w, flush := terminal.NewWriter(c.Stdout)
	return console.FlushAfter(warc.Index(w, args...), flush)
}
