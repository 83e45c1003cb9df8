package main

import (
	"slices"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway"
	"github.com/anyurl/fetch/wrap"
)

// serveLiveFlags are the flags of fetch serve for live pages.
type serveLiveFlags struct {
	live       string // "", "all", or names of schemes
	allowHosts []string
}

func (f *serveLiveFlags) register(s *options.Set) {
	p := s.Own("Flags")
	p.Func("live", "show live pages of URLs, or only of URLs of `SCHEMES` (default without archives)", func(text string) error {
		f.live = text
		return nil
	})
	p.Lookup("live").NoOptDefVal = "all"
	p.StringSliceVar(&f.allowHosts, "allow-host", nil, "show live pages of the private `HOST|PREFIX` without a confirmation")
}

// options returns the options of live pages, or nil if no live pages are shown.
func (f *serveLiveFlags) options(archives int, all []fetch.Scheme) (*gateway.Live, error) {
	if f.live == "" && archives > 0 {
		if len(f.allowHosts) > 0 {
			return nil, fetch.Usage.Errorf("--allow-host requires --live")
		}
		return nil, nil
	}
	o := &gateway.Live{AllowHosts: f.allowHosts}
	if f.live != "" && f.live != "all" {
		for name := range strings.SplitSeq(f.live, ",") {
			if !slices.ContainsFunc(all, func(s fetch.Scheme) bool { return s.Name == name }) {
				return nil, fetch.Usage.Errorf("--live: unknown scheme %q", name)
			}
			o.Schemes = append(o.Schemes, name)
		}
	}
	o.Client = func(p fetch.Policy, personal bool) (*fetch.Client, error) {
		return fetch.New(fetch.Options{Policy: p, Wrap: wrap.Standard(wrap.Options{})}, all...), nil
	}
	return o, nil
}
