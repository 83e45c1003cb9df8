package main

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/spf13/pflag"
)

// mirrorFlags are what only fetch mirror takes.
type mirrorFlags struct {
	noTree, warc bool
	prefix       string
	warcSize     bytesFlag
	operator     string
	unchanged    bool
	mail         string
	scope        string
	include      []string
	exclude      []string
	depth        depth
	requisites   bool
	accept       []string
	reject       []string
	maxFiles     int64
	maxBytes     bytesFlag
	maxPerHost   int64
	maxLinks     int64
	maxEntries   int64
	maxQueue     int64
	maxFailed    int64
	runTime      seconds
	minFree      bytesFlag
	hosts        int
	tries        int
	delete       bool
	maxDelete    share
	followLinks  bool
	recheck      bool
	ignoreRobots bool
	browse       string
	json         bool
}

func (f *mirrorFlags) register(p *pflag.FlagSet) {
	f.minFree, f.maxDelete = 64<<20, 0.1
	p.BoolVar(&f.noTree, "no-tree", false, "write no files into tree/: with --warc, records alone")
	p.BoolVar(&f.warc, "warc", false, "write records into warc/")
	p.StringVar(&f.prefix, "warc-prefix", "fetch", "begin the names of WARC files with `NAME`")
	p.Var(&f.warcSize, "warc-size", "begin another WARC file after `BYTES` (1G)")
	p.BoolVar(&f.unchanged, "record-unchanged", false, "write a revisit record for what did not change, over any protocol")
	p.StringVar(&f.operator, "operator", "", "say in each WARC file that `WHO` made it")
	p.StringVar(&f.mail, "mailboxes", "", "write groups and mailboxes into mail/ too, as `FORM`: mbox or maildir")
	p.StringVar(&f.browse, "browse", "", "write a copy to `DIR` whose pages lead to each other")
	p.StringVar(&f.scope, "scope", "prefix", "follow links within `REACH` of the URLs: prefix, host, domain or any")
	p.StringArrayVar(&f.include, "include", nil, "follow links that match `REGEXP` too")
	p.StringArrayVar(&f.exclude, "exclude", nil, "follow no link that matches `REGEXP`")
	p.Var(&f.depth, "depth", "follow at most `N` links from a URL; 0 fetches the URLs alone, inf is no limit")
	p.BoolVar(&f.requisites, "page-requisites", false, "bring what pages need to be shown from wherever it is")
	p.StringSliceVar(&f.accept, "accept", nil, "keep objects of these media `TYPES` alone (image/*)")
	p.StringSliceVar(&f.reject, "reject", nil, "keep no objects of these media `TYPES`")
	p.Int64Var(&f.maxFiles, "max-files", 0, "stop after `N` objects")
	p.Var(&f.maxBytes, "max-bytes", "stop after `BYTES` (100k, 2M, 1G)")
	p.Int64Var(&f.maxPerHost, "max-per-host", 0, "bring `N` objects of one host at the most")
	p.Int64Var(&f.maxLinks, "max-links", mirror.DefaultLinks, "add at most `N` URLs from one page; 0 is no limit")
	p.Int64Var(&f.maxEntries, "max-entries", mirror.DefaultEntries, "add at most `N` URLs from one listing or sitemap; 0 is no limit")
	p.Int64Var(&f.maxQueue, "max-queue", mirror.DefaultQueue, "keep at most `N` URLs of one host in the queue; 0 is no limit")
	p.Int64Var(&f.maxFailed, "max-failed", -1, "exit with 0 if at most `N` URLs failed that did not fail in the previous run")
	p.Lookup("max-failed").DefValue = "0" // which is not shown
	p.Var(&f.runTime, "run-time", "stop after `SECONDS`")
	p.Var(&f.minFree, "min-free", "stop when the disk has less than `BYTES` left")
	p.Lookup("min-free").DefValue = "64M"
	p.IntVar(&f.hosts, "hosts", 16, "ask `N` hosts at a time")
	p.IntVar(&f.tries, "tries", 3, "visit a URL that fails for now `N` times, each with --retry 1")
	p.BoolVar(&f.delete, "delete", false, "move files that the server has no more to attic/")
	p.Var(&f.maxDelete, "max-delete", "but nothing if that is more than this `SHARE` of them: 10% or 0.1")
	p.BoolVar(&f.followLinks, "follow-links", false, "follow the symbolic links of listings")
	p.BoolVar(&f.recheck, "recheck", false, "ask also for what a listing says is as it was")
	p.BoolVar(&f.ignoreRobots, "ignore-robots", false, "do not keep to robots.txt; the WARC says so")
	p.BoolVar(&f.json, "json", false, "write each visit to standard output, a line of JSON")
}

// share is a part of a whole: 0.1 or 10%.
type share float64

func (s *share) String() string { return strconv.FormatFloat(float64(*s)*100, 'g', -1, 64) + "%" }

func (s *share) Set(text string) error {
	number, percent := strings.CutSuffix(text, "%")
	n, err := strconv.ParseFloat(number, 64)
	if percent {
		n /= 100
	}
	if err != nil || !(n > 0 && n <= 1) {
		return fetch.Usage.Errorf("not a share such as 10%% or 0.1: %q", text)
	}
	*s = share(n)
	return nil
}

func (*share) Type() string { return "share" }

// depth is Scope.Depth: 0 is no limit, and a negative one the seeds alone.
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

// limitOf returns the field of mirror.Limits for a flag of which 0 is no limit.
func limitOf(n int64) int64 {
	if n == 0 {
		return -1
	}
	return n
}

// options are those of the mirror itself.
func (f *mirrorFlags) options(a *app) (o mirror.Options, err error) {
	o = mirror.Options{
		Tree: !f.noTree, Hosts: f.hosts, Tries: f.tries, Delete: f.delete, MaxDelete: float64(f.maxDelete),
		FollowLinks: f.followLinks, Recheck: f.recheck, IgnoreRobots: f.ignoreRobots, Override: overrideFlag,
		Limits: mirror.Limits{
			Files: f.maxFiles, Bytes: int64(f.maxBytes), Time: time.Duration(f.runTime), PerHost: f.maxPerHost,
			FileSize: int64(a.flags.maxFilesize), MinFree: int64(f.minFree),
			Links: limitOf(f.maxLinks), Entries: limitOf(f.maxEntries), Queue: limitOf(f.maxQueue),
		},
		Scope: mirror.Scope{Depth: int(f.depth), Requisites: f.requisites, Accept: f.accept, Reject: f.reject},
	}
	if a.given("per-host") {
		o.PerHost = a.flags.perHost
	}
	if o.Delay = time.Duration(a.flags.delay); o.Delay == 0 && (a.given("delay") || len(a.flags.archive) > 0) {
		o.Delay = -1 // an archive needs no pause
	}
	if err := f.consistent(); err != nil {
		return o, err
	}
	var ok bool
	if o.Scope.Reach, ok = mirror.ParseReach(f.scope); !ok {
		return o, fetch.Usage.Errorf("--scope is prefix, host, domain or any, not %q", f.scope)
	}
	if o.Scope.Include, err = patterns(f.include); err != nil {
		return o, err
	}
	if o.Scope.Exclude, err = patterns(f.exclude); err != nil {
		return o, err
	}
	switch f.mail {
	case "":
	case "mbox":
		o.Mail = mirror.Mbox
	case "maildir":
		o.Mail = mirror.Maildir
	default:
		return o, fetch.Usage.Errorf("--mailboxes is mbox or maildir, not %q", f.mail)
	}
	if f.warc {
		o.WARC = f.records(a)
	}
	return o, nil
}

// consistent refuses flags that together, or with such a value, would do
// something else than whoever typed them thinks.
func (f *mirrorFlags) consistent() error {
	for _, media := range append(f.accept, f.reject...) {
		if kind, sub, ok := strings.Cut(media, "/"); !ok || kind == "" || sub == "" {
			return fetch.Usage.Errorf("not a media type such as image/* or text/html: %q; --include and --exclude go by the URL", media)
		}
	}
	switch {
	case f.maxLinks < 0 || f.maxEntries < 0 || f.maxQueue < 0:
		return fetch.Usage.Errorf("--max-links, --max-entries and --max-queue take a number of URLs, or 0 for no limit")
	case f.noTree && !f.warc:
		return fetch.Usage.Errorf("--no-tree without --warc leaves nothing to write")
	case f.noTree && f.browse != "":
		return fetch.Usage.Errorf("--browse copies the files of tree/, which --no-tree does not write")
	case f.noTree && f.delete:
		return fetch.Usage.Errorf("--delete is about the files of tree/, which --no-tree does not write")
	}
	return nil
}

// records say what stands in each WARC file about who made it.
func (f *mirrorFlags) records(a *app) *mirror.WARC {
	robots := "obey"
	if f.ignoreRobots {
		robots = "ignore"
	}
	info := fetch.Header{{Name: "software", Value: "fetch/" + version}, {Name: "robots", Value: robots}}
	if f.operator != "" {
		info = append(info, fetch.Field{Name: "operator", Value: f.operator})
	}
	return &mirror.WARC{Prefix: f.prefix, Size: int64(f.warcSize), Info: info, Unchanged: f.unchanged}
}

func patterns(texts []string) (all []*regexp.Regexp, err error) {
	for _, t := range texts {
		r, err := regexp.Compile(t)
		if err != nil {
			return nil, fetch.Usage.With(err)
		}
		all = append(all, r)
	}
	return all, nil
}

// mirrorTakes are the flags of the root that say how servers are asked: they
// hold for a mirror as for one object.
func mirrorTakes() []string {
	var of flags
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	of.proxy.register(all)
	of.route.register(all)
	of.login.register(all)
	of.tls.register(all)
	names := []string{
		"output-dir", "input-file", "archive", "gateway", "no-progress-meter", "progress-bar",
		"retry", "retry-delay", "retry-max-time", "retry-all-errors", "max-time", "connect-timeout",
		"max-filesize", "limit-rate", "per-host", "delay",
		"proto", "proto-default", "proto-redir", "allow-downgrade", "allow-port", "allow-address", "port-policy",
		"header", "user-agent", "cookie", "cookie-jar", "junk-session-cookies", "basic", "digest", "anyauth",
		"path-as-is", "compressed", "http1.0", "http1.1", "http2", "http0.9", "tolerant", "ignore-content-length",
		"disable-epsv", "disable-eprt", "ftp-account", "ftp-alternative-to-user", "ftp-anonymous", "ftp-method",
		"ftp-port", "ftp-pasv", "ftp-skip-pasv-ip", "ftp-pret", "ftp-ssl-control", "ssl", "ssl-reqd", "news-server", "insecure-auth", "sasl",
	}
	all.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// mirrorInstead is what does for a mirror what other flags do for an object.
var mirrorInstead = map[string]string{
	"continue-at":   ": it always continues",
	"skip-existing": ": it never brings again what it has",
	"no-clobber":    ": it never brings again what it has",
	"time-cond":     ": it never brings again what did not change",
	"remote-time":   ": files have the time of the object",
	"output":        ": --output-dir DIR",
	"remote-name":   ": --output-dir DIR",
	"parallel":      ": --hosts N and --per-host N say how many at a time",
	"parallel-max":  ": --hosts N and --per-host N say how many at a time",
	"robots":        ": it does so without --ignore-robots",
	"location":      ": a redirect is a link",
	"max-redirs":    ": a redirect is a link",
	"mbox":          ": --mailboxes mbox",
	"maildir":       ": --mailboxes maildir",
	"state":         ": the archive remembers what was read",
	"meta":          ": crawl.jsonl has each visit, and --json",
	"write-out":     ": crawl.jsonl has each visit, and --json",
}
