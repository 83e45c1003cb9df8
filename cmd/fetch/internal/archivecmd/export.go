package archivecmd

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/crawlflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/manual"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/uri"
	"github.com/spf13/cobra"
)

// An exportCommand writes each object of WARC files to a separate file.
type exportCommand struct {
	*console.Streams
	replay    clientflags.ReplayFlags
	include   []string
	exclude   []string
	overwrite bool
	json      bool
}

func NewExport(r *command.Tree) *cobra.Command {
	return r.Define(&cobra.Command{
		Use:   "export --archive FILE [flags] DIR",
		Short: "Write the objects of WARC files as a tree of files",
		Long: `export writes each object of WARC and WACZ files to a file in DIR, such as
DIR/http/example.org/index.html. The names are those of tree/ in an archive of
fetch mirror. --archive can be repeated, and names a WARC or WACZ file or the
directory of an archive.

Of several captures of a URL, export writes the newest one that is no redirect
and no error, or the one nearest to --at. If this capture is damaged, export
writes the next one. Revisit records are resolved. Content codings such as gzip
are removed, except from files that are compressed themselves. A file has the
time that the server sent, or the time of the capture.

A file gets its name when it is complete. export never replaces a file with
other content, unless --overwrite is set. If export is interrupted, run the same
command again. It keeps the files that are complete.`,
		Example: command.Examples("fetch export --archive example.org files",
			"fetch export --archive crawl.wacz --at 2026-11 --include '/docs/' files"),
		Annotations: map[string]string{
			manual.ExitStatus: "0\tall objects are in DIR\n" +
				"3\tfiles exist with other content, or the disk is full\n" +
				"8\tthe archive has no object that the flags select\n" +
				"11\tcaptures are damaged, truncated or missing\n" +
				"13\tboth 3 and 11\n",
		},
		Args: command.ExactArgs(1, "a directory for the files"),
	}, &exportCommand{Streams: r.Streams})
}

func (c *exportCommand) Register(s *options.Set) {
	p := s.Own("Flags")
	c.replay.AddTo(p)
	p.StringArrayVar(&c.include, "include", nil, "export only URLs that match `REGEXP`")
	p.StringArrayVar(&c.exclude, "exclude", nil, "do not export URLs that match `REGEXP`")
	p.BoolVar(&c.overwrite, "overwrite", false, "replace existing files with other content")
	p.BoolVar(&c.json, "json", false, "print the numbers as a line of JSON")
	command.RegisterIgnoredConnection(s)
}

func (c *exportCommand) Run(ctx context.Context, args []string) (err error) {
	if len(c.replay.Archives) == 0 {
		return fetch.Usage.Errorf("fetch export requires --archive FILE")
	}
	o := mirror.ExportOptions{Overwrite: c.overwrite, Report: func(p mirror.ExportProblem) {
		c.Note("%s: %v", uri.Redact(p.URL), p.Err)
	}}
	if o.Include, err = crawlflags.Patterns(c.include); err != nil {
		return err
	}
	if o.Exclude, err = crawlflags.Patterns(c.exclude); err != nil {
		return err
	}
	if o.Archive, err = c.replay.Open(ctx, c.Streams); err != nil {
		return err
	}
	defer o.Archive.Close()
	o.Client = fetch.New(fetch.Options{}, schemes.All(schemes.Options{})...)
	defer o.Client.Close()
	// More frequent garbage collection keeps the sorting of a large index below 64 MiB.
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	done, err := mirror.Export(ctx, args[0], o)
	done.Damaged += int64(len(o.Archive.Damaged))
	if c.json {
		err = errors.Join(err, console.Encode(c.Stdout, done))
	} else {
		c.Note("%s", exportText(args[0], done))
	}
	if err != nil {
		if fetch.FaultOf(err) == fetch.Canceled {
			c.Note("run the same command again to continue")
		}
		return err
	}
	return c.failure(done)
}

// exportText formats the counters of an export as a line of text.
func exportText(dir string, e mirror.Exported) string {
	text := fmt.Sprintf("%s: %d new files (%s)", dir, e.Files, console.SizeText(e.Bytes))
	for _, part := range []struct {
		n    int64
		name string
	}{
		{e.Present, "already complete"}, {e.Conflicts, "with other content"}, {e.Damaged, "damaged captures"},
		{e.Redirects, "redirects"}, {e.Errors, "errors of servers"}, {e.Skipped, "skipped"},
	} {
		if part.n > 0 {
			text += fmt.Sprintf(", %d %s", part.n, part.name)
		}
	}
	return text
}

// failure returns an error if some objects, or all, could not be exported.
func (c *exportCommand) failure(e mirror.Exported) error {
	exists := fetch.Exists.Errorf("files that exist with other content: %d; --overwrite replaces them", e.Conflicts)
	damaged := fetch.Mismatch.Errorf("captures that are damaged, truncated or missing: %d", e.Damaged)
	switch {
	case e.Conflicts > 0 && e.Damaged > 0:
		c.Note("%v", exists)
		c.Note("%v", damaged)
		return console.ExitError{Code: console.MixedExit}
	case e.Conflicts > 0:
		return exists
	case e.Damaged > 0:
		return damaged
	case e.Files+e.Present == 0:
		return fetch.NotFound.Errorf("%s has no object to export", strings.Join(c.replay.Archives, ", "))
	}
	return nil
}
