package main

import (
	"context"
	"errors"
	"os"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/warc"
	"github.com/spf13/cobra"
)

// An indexCommand writes a CDXJ index of WARC files.
type indexCommand struct{ *streams }

func (r *commandTree) index() *cobra.Command {
	return r.define(&cobra.Command{
		Use:   "index FILE.warc.gz...|DIR",
		Short: "Write the CDXJ index of WARC files",
		Long: `index writes a sorted CDXJ index of WARC files to standard output, in the format
of pywb. If the argument is the directory of an archive, index replaces the
files of index/ and manifest-sha256.txt in the archive.`,
		Example: examples("fetch index *.warc.gz > all.cdxj", "fetch index example.org"),
		Args:    minArgs(1, "WARC files, or the directory of an archive"),
	}, &indexCommand{r.streams})
}

func (c *indexCommand) register(s *options.Set) { registerIgnored(s) }

func (c *indexCommand) advice(flag string) string {
	if flag == "output" {
		return "the index is written to standard output"
	}
	return ""
}

func (c *indexCommand) run(ctx context.Context, args []string) error {
	if info, err := os.Stat(args[0]); err == nil && info.IsDir() && len(args) == 1 {
		return adviseArchive(args[0], mirror.Reindex(ctx, args[0]))
	}
	w, flush := terminal.NewWriter(c.stdout)
	return errors.Join(warc.Index(w, args...), localError(flush()))
}
