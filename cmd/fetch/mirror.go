package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/tree"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/uri"
	"github.com/spf13/cobra"
)

// mirror brings whole sites into an archive.
func (a *app) mirror() *cobra.Command {
	f := &mirrorFlags{}
	c := &cobra.Command{
		Use:   "mirror [flags] URL...",
		Short: "Bring whole sites into an archive, and keep it true",
		Long: `mirror brings the URLs and all that they lead to, over every scheme: pages,
directories, menus, newsgroups, mailboxes. It writes an archive, the folder of
--output-dir, or one named like the host of the first URL: files into tree/, with
--warc records into warc/, and a line of crawl.jsonl for each visit.

The same command continues a run that was stopped or killed, and looks again
after one that ended: what did not change is not brought again. Nothing is kept
that is not whole. fetch verify proves it.

Links are followed below the URLs; --scope, --include and --page-requisites reach
further, but never where the policy forbids it. A Prospero directory also leads
to the files that it names on other hosts. A host is asked for one object a
second, one of this machine or a private network for two at a time without a
pause: --delay and --per-host say otherwise. robots.txt holds.

Exit codes: 0 complete; 4 some servers could not be reached; 8 some URLs failed
permanently, which takes precedence over 4. failed.txt lists the URLs in both
cases, and --max-failed tolerates some. 10 a limit ended the run; 3 this machine did: the disk, or another process
works on the archive; 130 interrupted. After 3, 4, 10 and 130 the same command
continues.`,
		Example: `  fetch mirror gopher://gopher.example.org/
  fetch mirror --warc --page-requisites http://example.org/docs/
  fetch mirror --mailboxes mbox nntp://news.example.org/comp.lang.c
  fetch mirror --delete --per-host 4 --delay 0 ftp://ftp.example.org/pub/
  fetch mirror --archive old.warc.gz http://example.org/    # its files, from a WARC file
  fetch verify ftp.example.org && fetch pack ftp.example.org --manifest`,
		RunE: func(_ *cobra.Command, args []string) error { return a.mirrors(f, append(args, a.urls...)) },
	}
	f.register(c.Flags())
	return fits(c, mirrorTakes(), mirrorInstead)
}

// mirrors carries out fetch mirror.
func (a *app) mirrors(f *mirrorFlags, args []string) error {
	o, err := f.options(a)
	if err != nil {
		return err
	}
	if o.Seeds, err = a.seeds(args); err != nil {
		return err
	}
	if o.Dir = a.flags.outputDir; o.Dir == "" {
		o.Dir = archiveOf(o.Seeds[0])
		a.note("into %s%c", o.Dir, filepath.Separator)
	}
	if f.browse != "" && inside(f.browse, o.Dir) {
		return fetch.Usage.Errorf("--browse wants a folder outside the archive")
	}
	a.native, a.archiving = true, true
	if !a.given("retry") {
		a.flags.retry = 1 // what fails for longer is visited again: --tries
	}
	personal, err := a.personal(o.Seeds)
	if err != nil {
		return err
	}
	view := a.newView(f.json)
	view.limits, view.maxFailed = o.Limits, f.maxFailed
	defer view.end()
	a.around = append(a.around, personal)
	if view.bar != nil {
		a.shown = view.bar.body
	}
	if o.Client, err = a.client(); err != nil {
		return err
	}
	defer o.Client.Close()
	if a.archive != nil {
		defer a.archive.Close()
	}
	o.Marks = groupMarks{a.marks, a.flags.news.server}
	o.Event, o.Progress = view.event, view.progress
	// Of many small objects little lives for long: to look for it less often
	// takes a tenth of the time, and of memory 8 MiB more.
	defer debug.SetGCPercent(debug.SetGCPercent(300))
	sum, err := mirror.Run(a.ctx, o)
	view.end()
	view.summary(sum, err)
	if err == nil && f.browse != "" {
		err = mirror.Browse(a.ctx, o.Dir, f.browse)
	}
	if err == nil {
		err = view.failed(o.Dir, sum)
	}
	return errors.Join(err, a.writeCookies())
}

// seeds are the URLs of the arguments and of the input file. One that is wrong
// is an error: without it the archive would not be what was asked for.
func (a *app) seeds(args []string) (all []uri.URI, _ error) {
	list := a.typedURLs(args)
	defer list.close()
	for {
		text, line, err := list.next()
		switch {
		case err == io.EOF && len(all) == 0:
			return nil, fetch.Usage.Errorf("no URL; fetch mirror --help tells more")
		case err == io.EOF:
			return all, nil
		case err != nil:
			return nil, err
		}
		u, err := a.typed(text)
		switch {
		case err != nil && line > 0:
			return nil, fetch.Usage.Errorf("line %d: %w", line, err)
		case err != nil:
			return nil, err
		}
		all = append(all, u)
	}
}

// archiveOf names the folder of the archive of u: like the folder of its host
// within.
func archiveOf(u uri.URI) string {
	parts := strings.SplitN(tree.Path(u, true), "/", 3)
	if u.Host() == "" {
		return parts[0]
	}
	return parts[1]
}

// inside reports whether the folder name is dir, or within it.
func inside(name, dir string) bool {
	name, err := filepath.Abs(name)
	dir, err2 := filepath.Abs(dir)
	if err != nil || err2 != nil {
		return false
	}
	return name == dir || strings.HasPrefix(name, dir+string(os.PathSeparator))
}
