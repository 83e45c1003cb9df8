package mirrorcmd

import (
	"context"
	"time"

	"github.com/anyurl/fetch/capture/browser"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/spf13/pflag"
)

// browserFlags are the flags that open pages in a browser.
type browserFlags struct {
	set       *pflag.FlagSet
	path      string
	tabs      int
	pageTime  options.Seconds
	pageIdle  options.Seconds
	behaviors []string
	copies    []string
	profile   string
}

// installed is the value of --browser without a path.
const installed = "chromium"

func (f *browserFlags) Register(s *options.Set) {
	p := s.Own("Browser")
	f.set = p
	f.pageTime, f.pageIdle = options.Seconds(90*time.Second), options.Seconds(time.Second)
	p.StringVar(&f.path, "browser", "", "open pages in Chromium and archive their requests (=`PATH` of Chromium)")
	p.Lookup("browser").NoOptDefVal = installed
	p.IntVar(&f.tabs, "browser-tabs", 2, "open `N` pages at a time")
	p.Var(&f.pageTime, "page-time", "wait at most `TIME` for a page and its behaviors")
	p.Lookup("page-time").DefValue = "90s"
	p.Var(&f.pageIdle, "page-idle", "treat a page as loaded after `TIME` without requests")
	p.Lookup("page-idle").DefValue = "1s"
	p.StringSliceVar(&f.behaviors, "behaviors", nil, "perform the actions `NAMES` in each page: scroll, media, details, more")
	options.SetValues(p.Lookup("behaviors"), browser.AllBehaviors()...)
	p.StringSliceVar(&f.copies, "page-copies", nil, "with --warc, store copies of pages: `NAMES` of screenshot, pdf, text")
	options.SetValues(p.Lookup("page-copies"), browser.AllCopies()...)
	p.StringVar(&f.profile, "browser-profile", "", "open pages with the cookies in `DIR`, a user data directory of Chromium")
}

// Validate returns an error if a flag has no effect.
func (f *browserFlags) Validate(records bool) error {
	for _, name := range []string{"browser-tabs", "page-time", "page-idle", "behaviors", "page-copies", "browser-profile"} {
		if f.path == "" && f.set.Changed(name) {
			return fetch.Usage.Errorf("--%s requires --browser", name)
		}
	}
	switch {
	case len(f.copies) > 0 && !records:
		return fetch.Usage.Errorf("--page-copies requires --warc, because the copies are WARC records")
	case f.tabs < 1 || f.tabs > 64:
		return fetch.Usage.Errorf("--browser-tabs is a number from 1 to 64, not %d", f.tabs)
	}
	return nil
}

// open starts the browser. The result is nil without --browser. The function
// close ends the browser.
func (f *browserFlags) open(ctx context.Context, s *console.Streams, agent string) (b mirror.Browser, close func(), err error) {
	if f.path == "" {
		return nil, func() {}, nil
	}
	if agent == console.Product() {
		agent = "" // the browser adds the product to its own name
	}
	o := browser.Options{
		Tabs: f.tabs, PageTime: time.Duration(f.pageTime), PageIdle: time.Duration(f.pageIdle), Behaviors: f.behaviors,
		Copies: f.copies, Profile: f.profile, Agent: agent, Product: console.Product(), Child: true,
		Note: func(text string) { s.Note("%s", text) },
	}
	if f.path != installed {
		o.Path = f.path
	}
	started, err := browser.Open(ctx, o)
	if err != nil {
		return nil, nil, fetch.Unsupported.Errorf("--browser: %w", err)
	}
	if !started.Isolated() {
		s.Note("on this system, only the flags of the browser keep it from the network")
	}
	return started, started.Close, nil
}
