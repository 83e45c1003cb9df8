package main

import (
	"github.com/anyurl/fetch/fetch"
	"github.com/spf13/pflag"
)

// httpFlags are for http and https alone.
type httpFlags struct {
	header    []string
	userAgent string
	referer   string
	pathAsIs  bool
}

func (f *httpFlags) register(p *pflag.FlagSet) {
	p.StringArrayVarP(&f.header, "header", "H", nil, "send `FIELD`: \"Name: value\", \"Name;\" without value, \"Name:\" to send none")
	p.StringVarP(&f.userAgent, "user-agent", "A", "", "send `TEXT` as User-Agent")
	p.StringVarP(&f.referer, "referer", "e", "", "send `URL` as Referer")
	p.BoolVar(&f.pathAsIs, "path-as-is", false, "keep . and .. in the path")
}

// fields are the header fields that the flags ask for.
func (f *httpFlags) fields(given func(string) bool) (fetch.Header, error) {
	var h fetch.Header
	if given("user-agent") {
		h = append(h, fetch.Field{Name: "User-Agent", Value: f.userAgent})
	}
	if f.referer != "" {
		h = append(h, fetch.Field{Name: "Referer", Value: f.referer})
	}
	more, err := fields(f.header)
	return append(h, more...), err
}
