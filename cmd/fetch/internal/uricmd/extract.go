package uricmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/links"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/uri/iri"
	"github.com/spf13/cobra"
)

// A uriExtractCommand prints the URIs that it finds in a text, in a format that
// --input-file accepts.
type uriExtractCommand struct {
	*console.Streams
	json bool
	base string
}

func newURIExtract(r *command.Tree) *cobra.Command {
	return r.Define(&cobra.Command{
		Use:   "extract [flags] [FILE]",
		Short: "Find the URIs in a text, or the links of a page, one per line",
		Long: `extract prints the URIs in FILE or in standard input. A URI is enclosed in <angle
brackets>, with or without "URL:", or in "double quotes", or surrounded by space
(RFC 3986 C). Line breaks within brackets and quotes are removed. In the output
of --json, "or" is another possible URI if a line ends in a hyphen; "start" and
"end" are positions in bytes.

With --base URL, the input is a page, a style sheet, a sitemap or a feed that was
retrieved from URL. extract then prints the absolute URLs of its links. A base
element in the page overrides URL (RFC 3986 5.1). In the output of --json, "kind"
and "from" describe the link.`,
		Example: command.Examples("fetch uri extract mail.txt",
			"fetch http://example.org/ | fetch uri extract --base http://example.org/"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fetch.Usage.Errorf("fetch uri extract accepts only one file")
			}
			return nil
		},
	}, &uriExtractCommand{Streams: r.Streams})
}

func (c *uriExtractCommand) Register(s *options.Set) {
	p := s.Own("Flags")
	p.BoolVar(&c.json, "json", false, "print each URI as a line of JSON")
	p.StringVar(&c.base, "base", "", "resolve relative links against `URL`, and print the links of a page")
	command.RegisterIgnored(s)
}

func (c *uriExtractCommand) Run(ctx context.Context, args []string) error {
	in := c.Stdin
	if len(args) == 1 && args[0] != "-" {
		f, err := os.Open(args[0])
		if err != nil {
			return fetch.Local.With(err)
		}
		defer f.Close()
		in = f
	}
	extract := extractURIs
	if c.base != "" {
		base, err := parseReference(c.base)
		if err != nil {
			return err
		}
		if base.Scheme() == "" {
			return fetch.BadURL.Errorf("--base requires an absolute URL")
		}
		extract = func(in io.Reader, write extractWriter) error { return extractLinks(base, in, write) }
	}
	out := bufio.NewWriter(c.Stdout)
	err := extract(in, func(record any, u uri.URI) error {
		if c.json {
			return errors.Join(console.Encode(out, record), ctx.Err())
		}
		_, err := fmt.Fprintln(out, u.Unredacted())
		return errors.Join(console.LocalError(err), ctx.Err())
	})
	if err != nil {
		out.Flush()
		return err
	}
	return console.LocalError(out.Flush())
}

// An extractWriter prints one extracted URI, as a JSON record or as text.
type extractWriter func(record any, u uri.URI) error

// extractURIs finds the URIs in plain text and calls write for each of them.
// Host names are converted to ASCII (punycode) if possible.
func extractURIs(in io.Reader, write extractWriter) error {
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
		if err != nil {
			return err
		}
	}
	return nil
}

// extractLinks finds the links in a document that was retrieved from base. It
// detects the media type from the file name and the content. The default is
// HTML.
func extractLinks(base uri.URI, in io.Reader, write extractWriter) error {
	body := bufio.NewReader(in)
	head, _ := body.Peek(media.SniffLen) // the next read returns the error again
	kind := media.TypeOf(base.Path(), head)
	if !links.CanExtract(kind) {
		kind = "text/html"
	}
	for l, err := range links.Extract(console.SchemeByName(), base, kind, nil, body) {
		if err != nil {
			return console.LocalError(err)
		}
		err := write(struct {
			URI      string `json:"uri"`
			Kind     string `json:"kind"`
			From     string `json:"from"`
			NoFollow bool   `json:"nofollow,omitempty"`
		}{l.URL.Unredacted(), l.Kind.String(), l.From, l.NoFollow}, l.URL)
		if err != nil {
			return err
		}
	}
	return nil
}

// dnsForm returns u with its host name converted to ASCII (punycode). It
// returns u unchanged if the conversion fails.
func dnsForm(u uri.URI) uri.URI {
	if ascii, err := iri.ToASCII(u); err == nil {
		return ascii
	}
	return u
}

// parseReference parses a URI reference, which may contain a zone identifier.
func parseReference(text string) (uri.URI, error) {
	u, err := uri.ParseZone(text)
	return u, fetch.BadURL.With(err)
}
