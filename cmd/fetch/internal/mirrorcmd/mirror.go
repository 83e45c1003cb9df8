// Package mirrorcmd implements fetch mirror.
package mirrorcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/arguments"
	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/crawlflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/manual"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/schemes/nntp"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/wrap"
	"github.com/spf13/cobra"
)

// MirrorExitStatus describes the exit codes of fetch mirror.
const MirrorExitStatus = `0	complete
3	the disk is full, or another process uses the archive (run the command again);
	the database is damaged (run fetch recover); or the bucket of --store is
	missing, or the access key has no permission
4	some servers could not be reached (run the command again)
8	some URLs failed permanently, or a start URL is denied or gone (takes
	precedence over 4)
9	the policy denies all hosts of a shared crawl that are left (name their URLs)
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
	stored    bool         // if true, the seeds come from options.json or from the joined crawl
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
override them for this run. The archive stores no login, header field, proxy or
policy.

mirror follows links below the URLs. --scope, --include and --page-requisites
extend this, but never against the policy. --page follows no links: it retrieves
each URL and the images, style sheets, scripts and frames of its page. A
Prospero directory also links to files on other hosts. By default, a public host
gets one request per second; a host whose address belongs to this machine or to a
private network gets four at a time without delay. See --delay and --per-host.
mirror obeys robots.txt.

Guards leave out URLs of sites with an unlimited number of URLs. The summary
names the flag of a guard that left out URLs. The value 0 disables a guard.`,
		Annotations: map[string]string{manual.ExitStatus: MirrorExitStatus, manual.Files: mirrorFiles},
		Example: command.Examples(
			"fetch mirror gopher://gopher.example.org/",
			"fetch mirror --warc --page-requisites http://example.org/docs/",
			"fetch mirror --page http://example.org/docs/intro.html    # one page with its images",
			"fetch mirror --mailboxes mbox nntp://news.example.org/comp.lang.c",
			"fetch mirror --delete --per-host 4 --delay 0 ftp://ftp.example.org/pub/",
			"fetch mirror --output-dir ftp.example.org    # repeat the last run",
			"fetch mirror --archive old.warc.gz http://example.org/    # extract files from a WARC file",
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
	return c.mirror.scope.Validate()
}

func (c *mirrorCommand) Advice(flag string) string { return mirrorAdvice[flag] }

func (c *mirrorCommand) Run(ctx context.Context, args []string) error {
	if c.mirror.logJSON {
		c.Streams.Log = console.NewLogger(c.Streams)
	}
	joined, err := c.joinCrawl(ctx)
	if err != nil {
		return err
	}
	seeds, err := c.seeds(ctx, args, joined)
	if err != nil {
		return err
	}
	dir := c.outputDir
	if dir == "" {
		dir = mirror.DefaultFolder(console.SchemeByName()(seeds[0].Scheme()), seeds[0])
		c.Note("the archive is %s%c", dir, filepath.Separator)
	}
	if err := c.continueRecords(dir); err != nil {
		return err
	}
	o, err := c.mirror.options()
	if err != nil {
		return err
	}
	o.Dir, o.Seeds, o.StoredSeeds, o.DiscardOptions = dir, seeds, c.stored, len(c.client.Replay.Archives) > 0
	c.mirror.shared.apply(&o)
	limits := &c.client.Limits
	o.Limits.FileSize = int64(limits.MaxFilesize)
	if limits.Set.Changed("per-host") {
		o.PerHost = limits.PerHost
	}
	if o.Delay = time.Duration(limits.Delay); o.Delay == 0 && (limits.Set.Changed("delay") || len(c.client.Replay.Archives) > 0) {
		o.Delay = -1 // no delay for --delay 0 and for replays
	}
	if o.WARC != nil {
		if err := c.addUserAgent(&o.WARC.Info); err != nil {
			return err
		}
	}
	if c.mirror.archive.browse != "" && isWithin(c.mirror.archive.browse, o.Dir) {
		return fetch.Usage.Errorf("--browse requires a directory outside the archive")
	}
	if c.mirror.dryRun {
		return c.printDryRun(ctx, &o)
	}
	report := newMirrorReport(c.Streams, c.mirror.json, &c.progress)
	report.stored, report.frontier = c.stored, o.Frontier
	report.guards, report.maxFailed = &c.mirror.guards, c.mirror.limits.maxFailed
	defer report.closeProgress()
	client, marks, err := c.openClient(ctx, o.Seeds, report)
	if err != nil {
		return err
	}
	defer client.Close()
	o.Client = client.Client
	if c.mirror.archive.dedup != "" {
		index, err := openDedup(ctx, o.Client, c.mirror.archive.dedup)
		if err != nil {
			return fmt.Errorf("--dedup: %w", err)
		}
		defer index.close()
		o.WARC.Dedup = index.IndexFile
	}
	o.Marks = groupMarks{marks, c.client.Mail.NewsServer}
	o.Event = report.event
	if report.shows {
		o.Progress = report.crawl.Update
	}
	// A mirror of many small objects allocates many short-lived objects. Less
	// frequent garbage collection makes a run 10 % faster. After thousands of
	// objects, it would need 250 MiB of memory without a limit.
	defer debug.SetGCPercent(debug.SetGCPercent(300))
	defer console.SaveMemory(96 << 20)()
	o.Monitor, o.Logger = &mirror.Monitor{}, console.MirrorLogger(c.Streams)
	stopMetrics, err := serveMetrics(c.Streams, ctx, c.mirror.metrics, o.Monitor)
	if err != nil {
		return err
	}
	if o.Frontier != nil {
		c.Interrupts.SetGrace(sharedGrace)
	}
	sum, err := mirror.Run(ctx, o)
	stopMetrics()
	report.closeProgress()
	report.printSummary(sum, err)
	if err == nil && c.mirror.archive.browse != "" {
		err = mirror.Browse(ctx, o, c.mirror.archive.browse)
	}
	switch {
	case errors.Is(err, mirror.ErrComplete):
		c.Note("the crawl is complete; --again starts its next run")
		err = nil
	case err == nil:
		err = report.failure(ctx, o.Dir, sum)
	default:
		err = crawlflags.AdviseArchive(o.Dir, err)
	}
	if err != nil && report.unwritten != nil {
		c.Note("%v", err)
		err = nil
	}
	return errors.Join(err, report.unwritten, client.SaveState())
}

// OpenClient returns the Client of the mirror, and the marks that record the
// last article retrieved from each newsgroup.
func (c *mirrorCommand) openClient(ctx context.Context, seeds []uri.URI,
	report *mirrorReport) (*clientflags.OpenClient, *nntp.Marks, error) {
	all, err := c.client.Schemes()
	if err != nil {
		return nil, nil, err
	}
	all.NNTP.Marks = &nntp.Marks{}
	all.WAIS.All, all.FTP.Hidden = true, true
	all.HTTP.KeepCompressed = true
	if c.stored { // credentials are sent only to servers that the user entered
		seeds = nil
	}
	credentials, err := newSeedCredentials(seeds, &c.client.HTTP)
	if err != nil {
		return nil, nil, err
	}
	standard := wrap.Options{Retry: c.client.Retry.Options(c.noteRetry(report)), Rate: int64(c.client.Limits.Rate)}
	if report.shows {
		standard.Progress = report.crawl.UpdateBody
	}
	client, err := c.client.Open(ctx, c.Streams, clientflags.Spec{
		Schemes:     all,
		Middlewares: []fetch.Middleware{credentials.middleware, c.noteTrustFlags()},
		Standard:    standard,
	})
	if err != nil {
		return nil, nil, err
	}
	credentials.logins = client.Logins
	if err := client.Logins.PromptFor(ctx, client.Client, seeds); err != nil {
		client.Close()
		return nil, nil, err
	}
	return client, all.NNTP.Marks, nil
}

// addUserAgent adds the User-Agent of the requests to the fields of a warcinfo
// record.
func (c *mirrorCommand) addUserAgent(info *fetch.Header) error {
	agent, err := c.client.HTTP.Agent()
	if err == nil && agent != "" {
		*info = append(*info, fetch.Field{Name: "http-header-user-agent", Value: agent})
	}
	return err
}

// NoteRetry returns a function that counts a retry. If -v or --error-json is
// set, it also prints a note. Otherwise, only the final result of a URL is
// printed.
func (c *mirrorCommand) noteRetry(report *mirrorReport) func(context.Context, wrap.Attempt) {
	return func(_ context.Context, t wrap.Attempt) {
		report.crawl.Retry()
		if c.Verbose || c.ErrorJSON || c.Log != nil {
			c.Streams.NoteRetry(t, fmt.Errorf("%s: %w", t.Request.URL, t.Err), t.Count+1, t.Count+t.Remaining)
		}
	}
}

// noteTrustFlags returns a middleware that prints a hint about --cacert and -k
// when a certificate cannot be verified. The hint is printed only once.
func (c *mirrorCommand) noteTrustFlags() fetch.Middleware {
	var once sync.Once
	return func(next fetch.Driver) fetch.Driver {
		return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
			resp, err := next.Do(ctx, req)
			if err != nil && console.Remedy(err) == console.TrustFlags {
				once.Do(func() { c.Note("to trust the server: %s", console.TrustFlags) })
			}
			return resp, err
		})
	}
}

// maxSeeds limits the number of URLs of a glob, because a mirror keeps all seeds
// in memory.
const maxSeeds = 100_000

// seeds returns the URLs on the command line and in the input file. A malformed
// URL is an error, because the archive would be incomplete without the URL. If
// there are no URLs, seeds returns those of the joined crawl, or of the last run
// in --output-dir.
func (c *mirrorCommand) seeds(ctx context.Context, args []string, joined []uri.URI) (all []uri.URI, _ error) {
	given, err := arguments.Parse(c.Streams, args, arguments.Options{
		Configured: c.config.URLs, InputFile: c.inputFile, DefaultScheme: c.client.Policy.ProtoDefault, GlobOff: c.globOff,
	})
	if err != nil {
		return nil, err
	}
	for _, a := range given {
		if a.Pattern != nil && a.Pattern.Count() > maxSeeds {
			return nil, fetch.Usage.Errorf("a glob with %d URLs is too large for a mirror: the limit is %d",
				a.Pattern.Count(), maxSeeds)
		}
	}
	list := arguments.Reader{Args: given, Name: c.inputFile, Stdin: c.Stdin}
	defer list.Close()
	for {
		a, err := list.Next()
		switch {
		case err == io.EOF && len(all) == 0 && c.inputFile == "" && len(joined) > 0:
			c.stored = true
			c.Note("the seeds are those of the crawl: %s", seedsText(joined))
			return joined, nil
		case err == io.EOF && len(all) == 0 && c.outputDir != "" && c.inputFile == "":
			c.stored = true
			return c.storedSeeds(ctx)
		case err == io.EOF && len(all) == 0:
			return nil, fetch.Usage.Errorf("no URL; see fetch mirror --help")
		case err == io.EOF:
			return all, nil
		case err != nil:
			return nil, err
		}
		u, err := arguments.ParseURL(c.Streams, a, c.client.Policy.ProtoDefault)
		switch {
		case err != nil && a.Line > 0:
			return nil, fetch.Usage.Errorf("line %d: %w", a.Line, err)
		case err != nil:
			return nil, err
		}
		all = append(all, u)
	}
}

// isWithin reports whether name is dir or a directory below dir.
func isWithin(name, dir string) bool {
	name, err := filepath.Abs(name)
	dir, err2 := filepath.Abs(dir)
	if err != nil || err2 != nil {
		return false
	}
	return name == dir || strings.HasPrefix(name, dir+string(os.PathSeparator))
}
