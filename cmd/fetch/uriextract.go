package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/links"
	"github.com/anyurl/fetch/internal/media"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/uri/iri"
	"github.com/spf13/cobra"
)

// uriExtract finds URIs in a text. Its lines are what --input-file reads.
func (a *app) uriExtract() *cobra.Command {
	var asJSON bool
	var base string
	c := &cobra.Command{
		Use:   "extract [FILE]",
		Short: "Find the URIs in running text, or the links of a page: one a line",
		Long: `extract writes the URIs that stand in FILE, or in standard input: in <angle
brackets>, with or without "URL:", in "double quotes", or bare (RFC 3986 C).
Line breaks in a wrapper are taken out. With --json, "or" is the other reading
where a line ends in a hyphen, and "start" and "end" count bytes.

With --base URL it is a page, a style sheet, a sitemap or a feed that came from
there, and what it leads to is written, absolute: its own base element comes
before URL (RFC 3986 5.1). With --json, "kind" and "from" say what for.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fetch.Usage.Errorf("wants one file, or none for standard input")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			in := a.stdin
			if len(args) == 1 && args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return fetch.Local.With(err)
				}
				defer f.Close()
				in = f
			}
			out := bufio.NewWriter(a.stdout)
			find := a.extract
			if base != "" {
				u, err := parseReference(base)
				if err != nil {
					return err
				}
				find = func(in io.Reader, write func(any, uri.URI) error) error { return a.links(u, in, write) }
			}
			err := find(in, func(all any, u uri.URI) error {
				if asJSON {
					return encode(out, all)
				}
				_, err := fmt.Fprintln(out, u.Unredacted())
				return local(err)
			})
			if err != nil {
				out.Flush()
				return err
			}
			return local(out.Flush())
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one line of JSON a URI")
	c.Flags().StringVar(&base, "base", "", "find the links of a page that came from `URL`")
	return c
}

// extract finds each URI of in, its host as DNS has it where it can be.
func (a *app) extract(in io.Reader, write func(all any, u uri.URI) error) error {
	for f, err := range uri.ExtractFrom(in) {
		if err != nil {
			return fetch.Local.With(err)
		}
		u := dnsForm(f.URI)
		err := write(struct {
			URI   string `json:"uri"`
			Or    string `json:"or,omitempty"`
			Start int    `json:"start"`
			End   int    `json:"end"`
		}{u.Unredacted(), dnsForm(f.Alternative).Unredacted(), f.Start, f.End}, u)
		if err := errors.Join(err, a.ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// links finds what the document that in has leads to. Its type is that of its
// URL's name, or what it looks like; what looks like nothing is a page.
func (a *app) links(retrieved uri.URI, in io.Reader, write func(all any, u uri.URI) error) error {
	if retrieved.Scheme() == "" {
		return fetch.BadURL.Errorf("--base wants an absolute URL")
	}
	body := bufio.NewReader(in)
	head, _ := body.Peek(media.SniffLen) // its error comes again
	kind := media.TypeOf(retrieved.Path(), head)
	if !links.CanExtract(kind) {
		kind = "text/html"
	}
	for l, err := range links.Extract(retrieved, kind, nil, body) {
		if err != nil {
			return local(err)
		}
		err := write(struct {
			URI      string `json:"uri"`
			Kind     string `json:"kind"`
			From     string `json:"from"`
			NoFollow bool   `json:"nofollow,omitempty"`
		}{l.URL.Unredacted(), l.Kind.String(), l.From, l.NoFollow}, l.URL)
		if err := errors.Join(err, a.ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// dnsForm is iri.ToASCII, or u itself.
func dnsForm(u uri.URI) uri.URI {
	if ascii, err := iri.ToASCII(u); err == nil {
		return ascii
	}
	return u
}
