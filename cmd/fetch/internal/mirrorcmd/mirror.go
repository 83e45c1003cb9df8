// Package mirrorcmd implements fetch mirror.
package mirrorcmd

import (
	"context"

	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/manual"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/spf13/cobra"
)

// MirrorExitStatus describes the exit codes of fetch mirror.
const MirrorExitStatus = `0	complete
3	the disk is full, or another process uses the archive (run the command again);
	the database is damaged (run fetch recover); or the bucket of --store is
	missing, or the access key has no permission
4	some servers could not be reached (run the command again)
8	some URLs failed permanently, a start URL is denied or gone, or the browser
	could not read a page (takes precedence over 4)
9	the policy denies all hosts of a shared crawl that are left, or a URL of the
	last run (name the URLs)
10	a limit ended the run (run the command again), or a guard left out URLs
	(takes precedence over 8; raise the limit that the summary names)
130	interrupted by SIGINT; 143 by SIGTERM (run the command again)
`

const mirrorFiles = `tree/	the files
warc/	WARC records, with --warc
mail/	newsgroups and mailboxes, with --mailboxes
attic/	files that were deleted on the server, with --delete, or are damaged
crawl.jsonl	one line of JSON for each visit
failed.txt	the URLs that failed
options.json	the URLs and options of the last run
report.txt	statistics of the last run, also in report.json
fetch.db	the state of the archive
`

// A mirrorCommand implements fetch mirror, which copies sites into an archive.
type mirrorCommand struct {
	*console.Streams
	config    *command.ConfigFlags
	outputDir string
	inputFile string
	globOff   bool
	mirror    mirrorFlags
	progress  console.ProgressFlags
	client    clientflags.Flags
	flags     *options.Set // all flags of the command

	storedWords []string // the flags of options.json as words of a command line
}

func New(r *command.Tree) *cobra.Command {
	c := &mirrorCommand{Streams: r.Streams, config: &r.Config}
	return r.Define(&cobra.Command{
		Use:   "mirror [flags] [URL...]",
		Short: "Copy whole sites into an archive and keep it up to date",
		Long: `mirror retrieves the URLs and everything that they link to, over every scheme:
pages, directories, menus, newsgroups, mailboxes. It writes an archive to
--output-dir, or to a directory named after the host of the first URL. The
archive has files in tree/, with --warc records in warc/, and a line in
crawl.jsonl for each visit.

The same command resumes a run that was stopped or killed. After a complete run,
it updates the archive and skips unchanged objects. Incomplete objects are never
stored. fetch verify checks the archive.

Without URLs, mirror repeats the last run of the archive in --output-dir, with
its URLs, scope, limits, delays and WARC settings. Flags on the command line
override them for this run. The archive stores no login, header field, proxy,
browser or policy.

mirror follows links below the URLs. --scope, --include and --page-requisites
extend this, but never against the policy. --page follows no links: it retrieves
each URL and the images, style sheets, scripts and frames of its page. A
Prospero directory also links to files on other hosts. By default, a public host
gets one request per second; a host whose address belongs to this machine or to a
private network gets four at a time without delay. See --delay and --per-host.
mirror obeys robots.txt.

With --browser, each page is opened in Chromium after it was retrieved. What its
scripts request is archived with it, and the links are those that the scripts
have made. See fetch help browser-crawls.

Guards leave out URLs of sites with an unlimited number of URLs. The summary
names the flag of a guard that left out URLs. The value 0 disables a guard.`,
		Annotations: map[string]string{manual.ExitStatus: MirrorExitStatus, manual.Files: mirrorFiles},
		Example: command.Examples(
			"fetch mirror gopher://gopher.example.org/",
			"fetch mirror --warc --page-requisites http://example.org/docs/",
			"fetch mirror --page http://example.org/a.html  # one page with its images",
			"fetch mirror --browser --warc --behaviors scroll http://example.org/app/",
			"fetch mirror --mailboxes mbox nntp://news.example.org/comp.lang.c",
			"fetch mirror --delete --per-host 4 --delay 0 ftp://ftp.example.org/pub/",
			"fetch mirror --output-dir ftp.example.org    # repeat the last run",
			"fetch mirror --archive old.warc.gz http://example.org/  # files of a WARC file",
			"fetch verify ftp.example.org && fetch pack ftp.example.org --manifest",
		),
	}, c)
}

func (c *mirrorCommand) Register(s *options.Set) {
	c.flags = s
	c.mirror.Register(s)
	command.RegisterOutputDir(s.Section("Archive"), &c.outputDir, "write the archive to `DIR`")
	command.RegisterInput(s.Section("URLs"), &c.inputFile, &c.globOff)
	c.client.Retry.Retries = 1 // only one, because --tries visits a failed URL again
	c.client.Register(s)
	c.progress.Register(s)
}

// mirrorAdvice maps flags that mirror does not support to alternatives.
var mirrorAdvice = map[string]string{
	"continue-at":   "it always continues",
	"skip-existing": "it never retrieves unchanged objects again",
	"no-clobber":    "it never retrieves unchanged objects again",
	"time-cond":     "it never retrieves unchanged objects again",
	"remote-time":   "files always have the time reported by the server",
	"output":        "use --output-dir DIR",
	"remote-name":   "use --output-dir DIR",
	"parallel":      "use --hosts N and --per-host N",
	"parallel-max":  "use --hosts N and --per-host N",
	"robots":        "it obeys robots.txt unless --ignore-robots is set",
	"location":      "it handles redirects like links",
	"max-redirs":    "it handles redirects like links",
	"mbox":          "use --mailboxes mbox",
	"maildir":       "use --mailboxes maildir",
	"state":         "the archive contains the positions in newsgroups",
	"meta":          "use crawl.jsonl or --json",
	"write-out":     "use crawl.jsonl or --json",
}

func (c *mirrorCommand) Validate() error {
	if c.mirror.logJSON && c.ErrorJSON {
		return fetch.Usage.Errorf("--log-json excludes --error-json, because both define the messages")
	}
	if err := c.mirror.browser.Validate(c.mirror.archive.warc); err != nil {
		return err
	}
	return c.mirror.scope.Validate()
}

func (c *mirrorCommand) Advice(flag string) string { return mirrorAdvice[flag] }

func (c *mirrorCommand) Run(ctx context.Context, args []string) error {
	if c.mirror.logJSON {
		c.Streams.Log = console.NewLogger(c.Streams)
	}
	seeds, o, err := c.prepare(ctx, args)
	if err != nil {
		return err
	}
	if c.mirror.dryRun {
		return c.printDryRun(ctx, &o)
	}
	if err := c.checkStoredSeeds(ctx, seeds); err != nil {
		return err
	}
	r, err := c.open(ctx, seeds, o)
	if err != nil {
		return err
	}
	defer r.close()
	return r.run(ctx)
}
