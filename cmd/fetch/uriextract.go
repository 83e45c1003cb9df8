package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/uri/iri"
	"github.com/spf13/cobra"
)

// uriExtract finds URIs in a text. Its lines are what --input-file reads.
func (a *app) uriExtract() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "extract [FILE]",
		Short: "Find the URIs in running text: one a line",
		Long: `extract writes the URIs that stand in FILE, or in standard input: in <angle
brackets>, with or without "URL:", in "double quotes", or bare (RFC 3986 C).
Line breaks in a wrapper are taken out. With --json, "or" is the other reading
where a line ends in a hyphen, and "start" and "end" count bytes.`,
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
			write := extractText
			if asJSON {
				write = extractJSON
			}
			if err := a.extract(in, func(f uri.Found) error { return write(out, f) }); err != nil {
				out.Flush()
				return err
			}
			return local(out.Flush())
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one line of JSON a URI")
	return c
}

// extract writes each URI of in, its host as DNS has it where it can be.
func (a *app) extract(in io.Reader, write func(uri.Found) error) error {
	for f, err := range uri.ExtractFrom(in) {
		if err != nil {
			return fetch.Local.With(err)
		}
		f.URI, f.Or = dnsForm(f.URI), dnsForm(f.Or)
		if err := write(f); err != nil {
			return local(err)
		}
		if err := a.ctx.Err(); err != nil {
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

func extractText(w io.Writer, f uri.Found) error {
	_, err := fmt.Fprintln(w, f.URI.Unredacted())
	return err
}

func extractJSON(w io.Writer, f uri.Found) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(struct {
		URI   string `json:"uri"`
		Or    string `json:"or,omitempty"`
		Start int    `json:"start"`
		End   int    `json:"end"`
	}{f.URI.Unredacted(), f.Or.Unredacted(), f.Start, f.End})
}
