package mirrorcmd

import (
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/crawlflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/spf13/pflag"
)

// mirrorFlags are the flags that only fetch mirror supports.
type mirrorFlags struct {
	archive archiveFlags
	scope   scopeFlags
	limits  crawlLimits
	guards  guardFlags
	update  updateFlags
	shared  sharedFlags
	browser browserFlags
	dryRun  bool
	json    bool
	metrics string
	notify  string
	logJSON bool
}

func (f *mirrorFlags) Register(s *options.Set) {
	f.archive.Register(s)
	f.scope.Register(s)
	f.limits.Register(s)
	f.guards.Register(s)
	f.update.Register(s)
	f.shared.Register(s)
	f.browser.Register(s)
	s.Own("Reports").BoolVar(&f.dryRun, "dry-run", false, "print what a run would do, but send and write nothing")
	s.Own("Reports").BoolVar(&f.json, "json", false, "print each visit as a line of JSON")
	s.Own("Reports").BoolVar(&f.logJSON, "log-json", false, "print all messages as JSON records of log/slog (-v: also visits)")
	s.Own("Reports").StringVar(&f.notify, "notify", "", "at the end, run the shell `COMMAND` with a summary as JSON on its input")
	s.Own("Reports").StringVar(&f.metrics, "metrics", "", "serve metrics for Prometheus at `ADDRESS`, such as 127.0.0.1:9400")
}

// archiveFlags are the flags that select the contents of the archive.
type archiveFlags struct {
	noTree, warc bool
	prefix       string
	warcSize     options.Bytes
	warcTime     options.Interval
	operator     string
	description  string
	isPartOf     string
	unchanged    bool
	wire         bool
	mailboxes    string
	browse       string
	dedup        string
}

func (f *archiveFlags) Register(s *options.Set) {
	p := s.Own("Archive")
	p.BoolVar(&f.warc, "warc", false, "write WARC records to warc/")
	p.BoolVar(&f.noTree, "no-tree", false, "with --warc, write no files to tree/")
	p.StringVar(&f.prefix, "warc-prefix", "fetch", "start the names of WARC files with `NAME`")
	p.Var(&f.warcSize, "warc-size", "start a new WARC file after `BYTES` (default 1000000000)")
	p.Var(&f.warcTime, "warc-time", "also start a new WARC file after `TIME`, such as 30m")
	p.BoolVar(&f.unchanged, "record-unchanged", false, "write a revisit record for each unchanged object")
	p.BoolVar(&f.wire, "warc-wire", false, "keep the transfer coding of http responses in WARC records")
	p.StringVar(&f.dedup, "dedup", "", "write revisit records for content that the index `CDXJ` lists")
	p.StringVar(&f.operator, "operator", "", "record `NAME` as the operator in each WARC file")
	p.StringVar(&f.description, "description", "", "record `TEXT` as the description in each WARC file")
	p.StringVar(&f.isPartOf, "is-part-of", "", "store `NAME` as the collection (isPartOf) in each WARC file")
	p.StringVar(&f.mailboxes, "mailboxes", "", "also store messages in mail/ as `FORM` (mbox or maildir)")
	options.SetValues(p.Lookup("mailboxes"), "mbox", "maildir")
	p.StringVar(&f.browse, "browse", "", "write a copy to `DIR` that web browsers can open locally")
}

// options converts the flags to options of the archive and stores them in o.
func (f *archiveFlags) options(o *mirror.Options) error {
	o.Tree = !f.noTree
	switch f.mailboxes {
	case "":
	case "mbox":
		o.Mail = mirror.Mbox
	case "maildir":
		o.Mail = mirror.Maildir
	default:
		return fetch.Usage.Errorf("--mailboxes is mbox or maildir, not %q", f.mailboxes)
	}
	switch {
	case f.noTree && !f.warc:
		return fetch.Usage.Errorf("--no-tree requires --warc, because nothing else would be written")
	case f.dedup != "" && !f.warc:
		return fetch.Usage.Errorf("--dedup requires --warc")
	case f.noTree && f.browse != "":
		return fetch.Usage.Errorf("--browse copies the files of tree/, so it excludes --no-tree")
	}
	if f.warc {
		o.WARC = &mirror.WARC{Prefix: f.prefix, Size: int64(f.warcSize), Age: time.Duration(f.warcTime), Info: f.warcinfo(),
			Unchanged: f.unchanged, KeepTransferCoding: f.wire}
	}
	return nil
}

// warcinfo returns fields for the warcinfo record of each WARC file: the
// software, and the values of flags such as --operator.
func (f *archiveFlags) warcinfo() fetch.Header {
	info := fetch.Header{{Name: "software", Value: console.Product()}}
	for _, field := range []fetch.Field{
		{Name: "operator", Value: f.operator}, {Name: "description", Value: f.description}, {Name: "isPartOf", Value: f.isPartOf},
	} {
		if field.Value != "" {
			info = append(info, field)
		}
	}
	return info
}

// scopeFlags are the flags that select which links are followed.
type scopeFlags struct {
	set          *pflag.FlagSet
	page         bool
	reach        string
	include      []string
	exclude      []string
	depth        depth
	requisites   bool
	accept       []string
	reject       []string
	followLinks  bool
	ignoreRobots bool
	noFollow     string
	speculate    bool
	keepSessions bool
	ignored      []string
}

func (f *scopeFlags) Register(s *options.Set) {
	p := s.Own("Scope")
	f.set = p
	p.BoolVar(&f.page, "page", false, "retrieve only the page at each URL, with its images, styles and scripts")
	p.StringVar(&f.reach, "scope", "prefix", "follow links within `REACH` (prefix, host, domain or any)")
	options.SetValues(p.Lookup("scope"), "prefix", "host", "domain", "any")
	p.StringArrayVar(&f.include, "include", nil, "also follow links that match `REGEXP`")
	p.StringArrayVar(&f.exclude, "exclude", nil, "do not follow links that match `REGEXP`")
	p.Var(&f.depth, "depth", "follow links up to a depth of `N` (0 for no links)")
	p.BoolVar(&f.requisites, "page-requisites", false, "also retrieve the images, styles and scripts of pages, from any host")
	p.StringSliceVar(&f.accept, "accept", nil, "store only objects of these media `TYPES`, such as image/*")
	p.StringSliceVar(&f.reject, "reject", nil, "do not store objects of these media `TYPES`")
	p.BoolVar(&f.keepSessions, "keep-session-ids", false, "treat URLs that differ only in a session identifier as different")
	p.StringSliceVar(&f.ignored, "ignore-params", nil, "treat URLs that differ only in the query parameters `NAMES` as equal")
	p.BoolVar(&f.followLinks, "follow-links", false, "follow symbolic links in directory listings")
	p.StringVar(&f.noFollow, "nofollow", "pages", "obey nofollow directives of `KIND` (pages, links or none)")
	options.SetValues(p.Lookup("nofollow"), "pages", "links", "none")
	p.BoolVar(&f.speculate, "speculate", false, "follow strings in scripts that look like URLs")
	p.BoolVar(&f.ignoreRobots, "ignore-robots", false, "ignore robots.txt and nofollow (WARC files record this setting)")
}

// Validate returns an error if --page is combined with --scope or --depth,
// because --page determines both values.
func (f *scopeFlags) Validate() error {
	for _, name := range []string{"scope", "depth"} {
		if f.page && f.set.Changed(name) {
			return fetch.Usage.Errorf("--page follows no links, so it excludes --%s", name)
		}
	}
	return nil
}

// options converts the flags to a mirror.Scope. The scope of --page includes
// the frames of the page on its host, so that the requisites of these frames
// are retrieved too.
func (f *scopeFlags) options() (o mirror.Scope, err error) {
	for _, media := range append(f.accept, f.reject...) {
		if kind, sub, ok := strings.Cut(media, "/"); !ok || kind == "" || sub == "" {
			return o, fetch.Usage.Errorf("not a media type such as image/* or text/html: %q "+
				"(use --include and --exclude for URLs)", media)
		}
	}
	o = mirror.Scope{
		Depth: int(f.depth), Requisites: f.requisites, Accept: f.accept, Reject: f.reject,
		KeepSessionIDs: f.keepSessions, IgnoreParameters: f.ignored,
	}
	var ok bool
	if o.Reach, ok = mirror.ParseReach(f.reach); !ok {
		return o, fetch.Usage.Errorf("--scope is prefix, host, domain or any, not %q", f.reach)
	}
	if f.page {
		o.Reach, o.Depth, o.Requisites = mirror.Host, -1, true
	}
	if o.Include, err = crawlflags.Patterns(f.include); err != nil {
		return o, err
	}
	o.Exclude, err = crawlflags.Patterns(f.exclude)
	return o, err
}

// A depth is the value of --depth, which limits the number of links from a seed
// to a page. As in Scope.Depth, zero means no limit, and a negative number
// means that no links are followed.
type depth int

func (d *depth) String() string {
	if *d == 0 {
		return "inf"
	}
	return strconv.Itoa(max(int(*d), 0))
}

func (d *depth) Set(text string) error {
	if text == "inf" {
		*d = 0
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return fetch.Usage.Errorf("neither a number of links nor inf: %q", text)
	}
	if *d = depth(n); n == 0 {
		*d = -1
	}
	return nil
}

func (*depth) Type() string { return "depth" }

// crawlLimits are the flags that limit a run of fetch mirror, such as
// --max-files.
type crawlLimits struct {
	crawlflags.TotalLimits
	maxPerHost int64
	maxFailed  int64 // -1 if not set
	minFree    options.Bytes
	hosts      int
	tries      int
}

func (f *crawlLimits) Register(s *options.Set) {
	f.minFree = 64 << 20
	p := s.Own("Limits of a run")
	f.TotalLimits.Register(p)
	p.Var(&f.minFree, "min-free", "stop if less than `BYTES` are free on the disk")
	p.Lookup("min-free").DefValue = "64M"
	p.Int64Var(&f.maxPerHost, "max-per-host", 0, "retrieve at most `N` objects from each host")
	p.Int64Var(&f.maxFailed, "max-failed", -1, "exit with code 0 if at most `N` failures are new since the previous run")
	p.Lookup("max-failed").DefValue = "0" // so that the help shows no default
	p.IntVar(&f.hosts, "hosts", 16, "retrieve from `N` hosts at a time")
	p.IntVar(&f.tries, "tries", 3, "visit a URL up to `N` times after transient errors")
}

// options converts the flags to mirror.Limits.
func (f *crawlLimits) options() mirror.Limits {
	return mirror.Limits{
		Files: f.MaxFiles, Bytes: int64(f.MaxBytes), Time: time.Duration(f.RunTime), PerHost: f.maxPerHost,
		MinFree: int64(f.minFree),
	}
}

// updateFlags are the flags that control how a later run updates the archive.
type updateFlags struct {
	delete    bool
	maxDelete options.Share
	maxLost   options.Share
	recheck   bool
}

func (f *updateFlags) Register(s *options.Set) {
	f.maxDelete, f.maxLost = 0.1, 0.1
	p := s.Own("Updates")
	p.BoolVar(&f.delete, "delete", false, "move files that were deleted on the server to attic/")
	p.Var(&f.maxDelete, "max-delete", "with --delete, keep all files if more than `SHARE` would move")
	p.Var(&f.maxLost, "max-lost", "change nothing if more than `SHARE` of the records is missing")
	p.BoolVar(&f.recheck, "recheck", false, "verify archived objects, and request them even if listings show no change")
}

// options converts the flags to options of the mirror package.
func (f *mirrorFlags) options() (o mirror.Options, err error) {
	o = mirror.Options{
		Hosts: f.limits.hosts, Tries: f.limits.tries, Delete: f.update.delete, MaxDelete: float64(f.update.maxDelete),
		MaxLost:     float64(f.update.maxLost),
		FollowLinks: f.scope.followLinks, Recheck: f.update.recheck, IgnoreRobots: f.scope.ignoreRobots,
		Override: console.OverrideFlag,
	}
	if f.archive.noTree && f.update.delete {
		return o, fetch.Usage.Errorf("--delete moves files of tree/, so it excludes --no-tree")
	}
	if err := f.archive.options(&o); err != nil {
		return o, err
	}
	o.Speculate = f.scope.speculate
	var ok bool
	if o.NoFollow, ok = mirror.ParseNoFollow(f.scope.noFollow); !ok {
		return o, fetch.Usage.Errorf("--nofollow is pages, links or none, not %q", f.scope.noFollow)
	}
	o.Limits = f.limits.options()
	if err := f.guards.apply(&o.Limits); err != nil {
		return o, err
	}
	o.Scope, err = f.scope.options()
	return o, err
}
