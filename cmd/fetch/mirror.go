package main

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/tty"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/wrap"
	"github.com/spf13/cobra"
)

// mirrorFlags are what only fetch mirror takes.
type mirrorFlags struct {
	tree, warc   bool
	prefix       string
	warcSize     bytesFlag
	operator     string
	unchanged    bool
	mail         string
	scope        string
	include      []string
	exclude      []string
	depth        int
	requisites   bool
	accept       []string
	reject       []string
	maxFiles     int64
	maxBytes     bytesFlag
	maxPerHost   int64
	runTime      seconds
	minFree      bytesFlag
	hosts        int
	tries        int
	delete       bool
	maxDelete    float64
	followLinks  bool
	recheck      bool
	ignoreRobots bool
	browse       string
	json         bool
}

// mirror brings whole sites into an archive.
func (a *app) mirror() *cobra.Command {
	f := &mirrorFlags{minFree: 64 << 20}
	c := &cobra.Command{
		Use:   "mirror [flags] URL...",
		Short: "Bring whole sites into an archive, and keep it true",
		Long: `mirror visits what the URLs lead to and writes it into the folder of
--output-dir: files into tree/, with --warc records into warc/. The same
command continues a run that was stopped or killed, and looks again after one
that ended: what did not change is not brought again.

Exit codes: 0 complete; 8 some URLs failed for good, crawl.jsonl has them;
10 a limit ended the run; 130 interrupted. After the last two the same command
goes on.`,
		RunE: func(_ *cobra.Command, args []string) error { return a.mirrors(f, args) },
	}
	p := c.Flags()
	p.BoolVar(&f.tree, "tree", true, "write files into tree/")
	p.BoolVar(&f.warc, "warc", false, "write records into warc/")
	p.StringVar(&f.prefix, "warc-prefix", "fetch", "begin the names of WARC files with `NAME`")
	p.Var(&f.warcSize, "warc-size", "begin another WARC file after `BYTES` (1G)")
	p.BoolVar(&f.unchanged, "record-unchanged", false, "write a revisit record for what did not change, over any protocol")
	p.StringVar(&f.operator, "operator", "", "say in each WARC file that `WHO` made it")
	p.StringVar(&f.mail, "mailboxes", "", "write groups and mailboxes into mail/ too, as `FORM`: mbox or maildir")
	p.StringVar(&f.scope, "scope", "prefix", "follow links within `REACH` of the URLs: prefix, host, domain or any")
	p.StringArrayVar(&f.include, "include", nil, "follow links that match `REGEXP` too")
	p.StringArrayVar(&f.exclude, "exclude", nil, "follow no link that matches `REGEXP`")
	p.IntVar(&f.depth, "depth", 0, "follow `N` links from a URL at the most; 0 is no limit")
	p.BoolVar(&f.requisites, "page-requisites", false, "bring what pages need to be shown from wherever it is")
	p.StringSliceVar(&f.accept, "accept", nil, "keep objects of these media `TYPES` alone (image/*)")
	p.StringSliceVar(&f.reject, "reject", nil, "keep no objects of these media `TYPES`")
	p.Int64Var(&f.maxFiles, "max-files", 0, "stop after `N` objects")
	p.Var(&f.maxBytes, "max-bytes", "stop after `BYTES`")
	p.Int64Var(&f.maxPerHost, "max-per-host", 0, "bring `N` objects of one host at the most")
	p.Var(&f.runTime, "run-time", "stop after `SECONDS`")
	p.Var(&f.minFree, "min-free", "stop when the disk has less than `BYTES` left")
	p.IntVar(&f.hosts, "hosts", 16, "ask `N` hosts at a time")
	p.IntVar(&f.tries, "tries", 3, "visit a URL that fails for now `N` times")
	p.BoolVar(&f.delete, "delete", false, "move files that the server has no more to attic/")
	p.Float64Var(&f.maxDelete, "max-delete", 0.1, "but nothing if that is more than this `SHARE` of them")
	p.BoolVar(&f.followLinks, "follow-links", false, "follow the symbolic links of listings")
	p.BoolVar(&f.recheck, "recheck", false, "ask also for what a listing says is as it was")
	p.BoolVar(&f.ignoreRobots, "ignore-robots", false, "do not ask for robots.txt; the WARC says so")
	p.StringVar(&f.browse, "browse", "", "write a copy to `DIR` whose pages lead to each other")
	p.BoolVar(&f.json, "json", false, "write each visit to standard output, a line of JSON")
	return c
}

// options are those of the mirror itself.
func (f *mirrorFlags) options(a *app) (o mirror.Options, err error) {
	o = mirror.Options{
		Tree: f.tree, Hosts: f.hosts, Tries: f.tries, Delete: f.delete, MaxDelete: f.maxDelete,
		FollowLinks: f.followLinks, Recheck: f.recheck, IgnoreRobots: f.ignoreRobots,
		Limits: mirror.Limits{
			Files: f.maxFiles, Bytes: int64(f.maxBytes), Time: time.Duration(f.runTime), PerHost: f.maxPerHost,
			FileSize: int64(a.flags.maxFilesize), MinFree: int64(f.minFree),
		},
		Scope: mirror.Scope{Depth: f.depth, Requisites: f.requisites, Accept: f.accept, Reject: f.reject},
	}
	if a.given("per-host") {
		o.PerHost = a.flags.perHost
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

// mirrors carries out fetch mirror.
func (a *app) mirrors(f *mirrorFlags, args []string) error {
	o, err := f.options(a)
	if err != nil {
		return err
	}
	for _, text := range args {
		u, err := a.typed(text)
		if err != nil {
			return err
		}
		o.Seeds = append(o.Seeds, u)
	}
	if len(o.Seeds) == 0 {
		return fetch.Usage.Errorf("no URL; fetch mirror --help tells more")
	}
	if o.Dir = a.flags.outputDir; o.Dir == "" {
		return fetch.Usage.Errorf("no folder for the archive: --output-dir DIR")
	}
	a.native, a.archiving, a.flags.robots = true, true, !f.ignoreRobots
	if o.Client, err = a.client(); err != nil {
		return err
	}
	defer o.Client.Close()
	o.Marks = groupMarks{a.marks, a.flags.news.server}
	view := a.newView(f.json)
	o.Event, o.Progress = view.event, view.progress
	sum, err := mirror.Run(a.ctx, o)
	view.end()
	if err == nil && f.browse != "" {
		err = mirror.Browse(a.ctx, o.Dir, f.browse)
	}
	a.summary(sum)
	return mirrored(sum, err)
}

// mirrored is what the exit code is made of.
func mirrored(sum mirror.Summary, err error) error {
	if err == nil && sum.Failed > 0 {
		return fetch.NotFound.Errorf("%d URLs failed for good: crawl.jsonl has them", sum.Failed)
	}
	return err
}

func (a *app) summary(s mirror.Summary) {
	if s.Run == 0 {
		return
	}
	a.note("%s: %d new, %d as they were, %d gone, %d failed, %d excluded, %d left; %d bytes",
		"run "+fmt.Sprint(s.Run), s.New, s.Same, s.Gone, s.Failed, s.Excluded, s.Left, s.Bytes)
	if s.Attic > 0 {
		a.note("%d files went to attic/", s.Attic)
	}
}

// view shows how a mirror goes on.
type view struct {
	app  *app
	json *json.Encoder // nil: no events
	bar  *crawlBar     // nil: no terminal
}

func (a *app) newView(events bool) *view {
	v := &view{app: a, bar: a.newCrawlBar(events)}
	if events {
		v.json = json.NewEncoder(a.stdout)
	}
	return v
}

func (v *view) event(e mirror.Event) {
	if v.json != nil {
		v.json.Encode(e) // a reader that has gone ends us by the signal
	}
	if v.app.flags.verbose || v.bar == nil && e.State == "dead" {
		v.app.note("%s %s %s", e.State, e.URL, tty.Escape(e.Note))
	}
}

func (v *view) progress(p mirror.Progress) {
	if v.bar != nil {
		v.bar.show(p)
	}
}

func (v *view) end() {
	if v.bar != nil {
		v.bar.end()
	}
}

// publicDelay is how long a host that is neither near nor ours is left alone
// between two requests, where --delay says nothing.
const publicDelay = time.Second

// gentle is the rule of a mirror: what robots.txt says, if it counts, and a
// pause for hosts of others.
func (a *app) gentle() func(fetch.Driver) wrap.Rule {
	return func(next fetch.Driver) wrap.Rule {
		ask := func(context.Context, *fetch.Request) (time.Duration, error) { return 0, nil }
		if a.flags.robots {
			ask = wrap.Robots("fetch")(next)
		}
		given := a.given("delay")
		return func(ctx context.Context, req *fetch.Request) (time.Duration, error) {
			delay, err := ask(ctx, req)
			if !given && !mirror.Near(strings.ToLower(req.URL.Host())) {
				delay = max(delay, publicDelay)
			}
			return delay, err
		}
	}
}
