package main

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/prospero"
	"github.com/anyurl/fetch/uri"
	"github.com/spf13/cobra"
)

// search asks an index: the URL that the scheme writes from the words is
// fetched like any other.
func (a *app) search() *cobra.Command {
	var q fetch.Search
	var like []string
	var asJSON, urls, only bool
	c := &cobra.Command{
		Use:   "search URL WORDS...",
		Short: "Ask an index: gopher type 7, wais, archie, a mailbox",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) == 1 && len(like) == 0 {
				return fetch.Usage.Errorf("wants a URL and words")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			q.Words = strings.Join(args[1:], " ")
			for _, text := range like {
				u, err := uri.Parse(text)
				if err != nil {
					return fetch.BadURL.With(err)
				}
				q.Like = append(q.Like, u)
			}
			write := listText(urls)
			if asJSON {
				write = listJSON
			}
			write = atMost(q.Max, write)
			return a.batch(args[:1], func(j *job) error {
				u, err := j.typed(j.text)
				if err != nil {
					return err
				}
				if u, err = j.client.Query(u, q); err != nil {
					return err
				}
				j.text = u.Unredacted()
				switch {
				case only:
					return j.print(u.String())
				case a.native:
					return j.get()
				}
				return j.list(write)
			})
		},
	}
	c.Flags().StringArrayVar(&like, "like", nil, "find documents like the one at `URL` (wais)")
	c.Flags().IntVar(&q.Max, "max", 0, "find `N` at the most")
	c.Flags().StringVar(&a.flags.match, "match", "part", "let archie match `HOW`: exact, part, case or regexp (prospero)")
	c.Flags().BoolVar(&asJSON, "json", false, "one line of JSON an entry")
	c.Flags().BoolVar(&urls, "urls", false, "the URL of each entry alone")
	c.Flags().BoolVar(&a.native, "native", false, "the server's own answer")
	c.Flags().BoolVar(&only, "url", false, "write the URL of the search, and do not fetch it")
	return bodiless(c, func() bool { return a.native })
}

// archie reads --match.
func (f *flags) archie() (o prospero.Options, err error) {
	kinds := map[string]byte{"": 0, "part": 'S', "exact": '=', "case": 'C', "regexp": 'R'}
	kind, ok := kinds[f.match]
	if !ok {
		return o, fetch.Usage.Errorf("--match is exact, part, case or regexp, not %q", f.match)
	}
	return prospero.Options{Match: kind}, nil
}
