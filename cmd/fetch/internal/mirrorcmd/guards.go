package mirrorcmd

import (
	"math"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
)

// guardFlags are the flags that limit the number of URLs from sites with
// endless links, such as calendars.
type guardFlags struct {
	limits mirror.Limits // values of the flags; 0 means no limit
}

// A guardFlag describes the flag that sets the limit of one guard.
type guardFlag struct {
	guard    mirror.Guard
	limit    *int64
	standard int64  // default value
	usage    string // help text
	note     string // format of the line in the summary, for the number of omitted URLs and the limit
}

// all returns the flag of each guard.
func (f *guardFlags) all() []guardFlag {
	l, standard := &f.limits, mirror.DefaultLimits()
	return []guardFlag{
		{mirror.OverLinks, &l.Links, standard.Links, "add at most `N` URLs from each page",
			"links left out: %d; one page adds at most %d URLs"},
		{mirror.OverEntries, &l.Entries, standard.Entries, "add at most `N` URLs from each listing",
			"entries left out: %d; one listing adds at most %d URLs"},
		{mirror.OverQueue, &l.Queue, standard.Queue, "queue at most `N` URLs of each host",
			"URLs left out: %d; the queue of one host holds at most %d"},
		{mirror.OverURLBytes, &l.URLBytes, standard.URLBytes, "follow URLs of at most `N` bytes",
			"long URLs left out: %d; a URL has at most %d bytes"},
		{mirror.OverRepeats, &l.Repeats, standard.Repeats, "follow URLs that repeat a segment at most `N` times",
			"paths with repeated segments left out: %d; a path has the same segment at most %d times"},
		{mirror.OverQueries, &l.Queries, standard.Queries, "follow at most `N` URLs that differ only in the query",
			"queries left out: %d; one path has at most %d queries"},
		{mirror.OverChained, &l.Chained, standard.Chained,
			"follow at most `N` similar URLs that form a chain",
			"similar URLs in long chains left out: %d; at most %d of each kind are followed"},
		{mirror.OverDeepPaths, &l.DeepPaths, standard.DeepPaths,
			"follow at most `N` paths with over 20 segments on each host",
			"deep paths left out: %d; one host has at most %d of them"},
		{mirror.OverSitemaps, &l.Sitemaps, standard.Sitemaps, "read at most `N` sitemaps of each host",
			"sitemaps left out: %d; one host has at most %d of them"},
		{mirror.OverSameText, &l.SameText, standard.SameText,
			"follow the links of at most `N` pages with the same text",
			"links of pages with the same text left out: %d; at most %d such pages add URLs, fewer if the URLs look random"},
	}
}

// name returns the name of the flag.
func (g *guardFlag) name() string { return "max-" + g.guard.String() }

func (f *guardFlags) Register(s *options.Set) {
	p := s.Own("Guards against endless sites")
	for _, g := range f.all() {
		p.Int64Var(g.limit, g.name(), g.standard, g.usage)
	}
}

// apply converts the flags to limits and stores them in l.
func (f *guardFlags) apply(l *mirror.Limits) error {
	selected := guardFlags{*l}
	flags := f.all()
	for i, to := range selected.all() {
		n := *flags[i].limit
		if n < 0 {
			return fetch.Usage.Errorf("--%s requires a number, or 0 for no limit", to.name())
		}
		if *to.limit = n; n == 0 {
			*to.limit = math.MaxInt64
		}
	}
	*l = selected.limits
	return nil
}

// printGuards prints a note for each limit that caused URLs to be left out.
func (r *mirrorReport) printGuards(left mirror.LeftOut) {
	for _, g := range r.guards.all() {
		if n := left[g.guard]; n > 0 {
			r.Note(g.note+" (--%s N)", n, *g.limit, g.name())
		}
	}
}
