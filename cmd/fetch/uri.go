package main

import (
	"fmt"

	"github.com/anyurl/fetch/cmd/fetch/internal/uribatch"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
	"github.com/spf13/cobra"
)

// uri works on URIs themselves, without a network.
func (a *app) uri() *cobra.Command {
	var batch bool
	c := &cobra.Command{
		Use:   "uri",
		Short: "Parse, resolve, normalize, compare and find URIs (RFC 3986)",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fetch.Usage.Errorf("no command of fetch uri: %q", withoutLogin(args[0]))
			}
			if !batch {
				return cmd.Help()
			}
			return uribatch.Run(a.ctx, a.stdin, a.stdout)
		},
	}
	c.Flags().BoolVar(&batch, "batch", false, "answer questions on standard input, a line of JSON each")
	for _, sub := range []*cobra.Command{a.uriParse(), a.uriValid(), a.uriResolve(), a.uriNormalize(), a.uriEquivalent(), a.uriRelativize(), a.uriExtract()} {
		c.AddCommand(fits(sub, nil, nil))
	}
	return c
}

// false is exit code 1 without a word: the answer of valid and equivalent.
var falseAnswer = said{1}

// parseReference is uri.ParseReference, or with zone identifiers, as an error
// of a bad URL.
func parseReference(text string) (uri.URI, error) {
	u, err := uri.ParseZone(text)
	return u, fetch.BadURL.With(err)
}

func (a *app) answer(yes bool) error {
	if err := a.print(fmt.Sprint(yes)); err != nil || yes {
		return err
	}
	return falseAnswer
}

func (a *app) uriParse() *cobra.Command {
	return &cobra.Command{
		Use:   "parse URI",
		Short: "Take a URI apart: one record of JSON, still encoded; null is undefined",
		Args:  exactly(1, "one URI"),
		RunE: func(_ *cobra.Command, args []string) error {
			u, err := parseReference(args[0])
			if err != nil {
				return err
			}
			return encode(a.stdout, uribatch.ComponentsOf(u))
		},
	}
}

func (a *app) uriValid() *cobra.Command {
	var production string
	c := &cobra.Command{
		Use:   "valid URI",
		Short: "Tell whether a text matches the grammar: true or false, exit 0 or 1",
		Args:  exactly(1, "one text"),
		RunE: func(_ *cobra.Command, args []string) error {
			p, ok := uri.ParseProduction(production)
			if !ok {
				return fetch.Usage.Errorf("no production %q", production)
			}
			return a.answer(uri.Valid(args[0], p))
		},
	}
	c.Flags().StringVar(&production, "as", "URI", "the production: URI, URI-reference, absolute-URI, relative-ref, IPv4address")
	return c
}

func (a *app) uriResolve() *cobra.Command {
	var mode string
	modes := map[string]uri.Mode{"rfc3986": uri.RFC3986, "draft2003": uri.Draft2003, "draft1997": uri.Draft1997}
	c := &cobra.Command{
		Use:   "resolve BASE REFERENCE",
		Short: "Make a reference absolute (RFC 3986 5)",
		Args:  exactly(2, "a base and a reference"),
		RunE: func(_ *cobra.Command, args []string) error {
			m, ok := modes[mode]
			if !ok {
				return fetch.Usage.Errorf("--mode is rfc3986, draft2003 or draft1997, not %q", mode)
			}
			return a.two(args, func(base, ref uri.URI) error {
				u, err := m.Resolve(base, ref)
				if err != nil {
					return fetch.BadURL.With(err)
				}
				return a.print(u.Unredacted())
			})
		},
	}
	c.Flags().StringVar(&mode, "mode", "rfc3986", "the rules: rfc3986, draft2003 or draft1997")
	return c
}

// two parses two URIs for do.
func (a *app) two(args []string, do func(x, y uri.URI) error) error {
	x, err := parseReference(args[0])
	if err != nil {
		return err
	}
	y, err := parseReference(args[1])
	if err != nil {
		return err
	}
	return do(x, y)
}

// level is the --level of a command.
func level(c *cobra.Command) func() (uri.Level, error) {
	text := c.Flags().String("level", "scheme", "syntax (RFC 3986 6.2.2) or scheme (6.2.3 too)")
	return func() (uri.Level, error) {
		switch *text {
		case "syntax":
			return uri.Syntax, nil
		case "scheme":
			return uri.ByScheme, nil
		}
		return 0, fetch.Usage.Errorf("--level is syntax or scheme, not %q", *text)
	}
}

func (a *app) uriNormalize() *cobra.Command {
	c := &cobra.Command{Use: "normalize URI", Short: "Write a URI in its normal form", Args: exactly(1, "one URI")}
	chosen := level(c)
	c.RunE = func(_ *cobra.Command, args []string) error {
		l, err := chosen()
		if err != nil {
			return err
		}
		u, err := parseReference(args[0])
		if err != nil {
			return err
		}
		return a.print(u.Normalize(l).Unredacted())
	}
	return c
}

func (a *app) uriEquivalent() *cobra.Command {
	c := &cobra.Command{Use: "equivalent A B", Short: "Tell whether two URIs are the same: exit 0 or 1", Args: exactly(2, "two URIs")}
	chosen := level(c)
	c.RunE = func(_ *cobra.Command, args []string) error {
		l, err := chosen()
		if err != nil {
			return err
		}
		return a.two(args, func(x, y uri.URI) error { return a.answer(uri.Equivalent(x, y, l)) })
	}
	return c
}

func (a *app) uriRelativize() *cobra.Command {
	return &cobra.Command{
		Use:   "relativize BASE TARGET",
		Short: "Write the reference that leads from one URI to another",
		Args:  exactly(2, "a base and a target"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.two(args, func(base, target uri.URI) error {
				return a.print(uri.Relativize(base, target).Unredacted())
			})
		},
	}
}
