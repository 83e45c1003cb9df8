package objectcmd

import (
	"context"
	"os"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/arguments"
	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/download"
	"github.com/anyurl/fetch/cmd/fetch/internal/listing"
	"github.com/anyurl/fetch/cmd/fetch/internal/objectflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/prospero"
	"github.com/anyurl/fetch/uri"
	"github.com/spf13/cobra"
)

// A searchCommand searches an index, such as a Gopher search server. The scheme
// converts the search words to a URL, which is then retrieved.
type searchCommand struct {
	*console.Streams
	flags   objectflags.Flags
	max     int
	like    []string
	match   string
	unused  objectflags.Unused
	format  listing.Flags
	native  bool
	urlOnly bool
	text    bool
}

func NewSearch(r *command.Tree) *cobra.Command {
	c := &searchCommand{Streams: r.Streams}
	return r.Define(&cobra.Command{
		Use:   "search [flags] URL|--text ARCHIVE WORDS...",
		Short: "Search an index: gopher, wais, z39.50, ldap, archie, a mailbox or the texts of an archive",
		Long: `search sends the words to the index at the URL and prints a list of the results.

With --text, search finds the words in the texts of an archive: pages, articles and
listings. fetch index --text writes the index that this needs. All words must occur.
"exact phrase" finds words in sequence, and -word excludes texts. host:NAME,
scheme:NAME, kind:page|article|listing|text and year:YYYY select captures.`,
		Example: command.Examples("fetch search wais://wais.example.org/rfc telnet option",
			"fetch search --text example.org moon landing year:2024"),
		Args: func(_ *cobra.Command, args []string) error { return c.checkArguments(args) },
	}, c)
}

// checkArguments returns an error if args cannot be a URL and words, or an archive
// and words with --text. The error names the command for a search in an archive
// if an archive is given in another place.
func (c *searchCommand) checkArguments(args []string) error {
	archives, exists := c.flags.Client.Replay.Archives, func(name string) bool {
		_, err := os.Stat(name)
		return err == nil
	}
	switch {
	case c.text && len(archives) > 0, !c.text && len(archives) > 0 && (len(args) == 0 || !strings.Contains(args[0], ":")):
		return textAdvice(archives[0])
	case c.text && len(args) > 1 && !exists(args[0]) && !strings.Contains(args[0], ":") && exists(args[len(args)-1]):
		return textAdvice(args[len(args)-1])
	case c.text && len(args) < 2:
		return fetch.Usage.Errorf("fetch search --text requires an archive and words")
	case !c.text && len(args) > 0 && !strings.Contains(args[0], ":") && exists(args[0]):
		return textAdvice(args[0])
	case len(args) == 0 || len(args) == 1 && len(c.like) == 0:
		return fetch.Usage.Errorf("fetch search requires a URL and words")
	}
	return nil
}

// textAdvice returns an error that names the command for a search in the texts of
// an archive.
func textAdvice(archive string) error {
	return fetch.Usage.Errorf("to search in the texts of an archive: fetch search --text %s WORDS", archive)
}

func (c *searchCommand) Register(s *options.Set) {
	p := s.Own("Flags")
	p.StringArrayVar(&c.like, "like", nil, "find documents similar to the one at `URL` (wais)")
	p.IntVar(&c.max, "max", 0, "print at most `N` results")
	p.StringVar(&c.match, "match", defaultMatch, "match names by `MODE` (archie: exact, part, case or regexp)")
	c.format.Register(p, "result")
	p.BoolVar(&c.native, "native", false, "print the response in the format of the server (permits -o, -D ...)")
	p.BoolVar(&c.text, "text", false, "search in the texts of an archive, which is the first argument")
	p.BoolVar(&c.urlOnly, "url", false, "print the URL of the search and do not retrieve it")
	c.flags.Register(s)
	c.unused.Hide(s, objectflags.ListingNames)
}

func (c *searchCommand) Validate() error {
	if c.native {
		return nil
	}
	return c.unused.Reject("fetch search", objectflags.NativeAdvice)
}

// defaultMatch is the default value of --match.
const defaultMatch = "part"

// matchModes maps the values of --match to the values of prospero.Options.Match.
var matchModes = map[string]byte{"part": 'S', "exact": '=', "case": 'C', "regexp": 'R'}

func (c *searchCommand) Run(ctx context.Context, args []string) error {
	if c.text {
		return c.searchTexts(ctx, args[0], args[1:])
	}
	query := fetch.Search{Words: strings.Join(args[1:], " "), Max: c.max}
	for _, text := range c.like {
		u, err := uri.Parse(text)
		if err != nil {
			return fetch.BadURL.With(err)
		}
		query.Like = append(query.Like, u)
	}
	mode, ok := matchModes[c.match]
	if !ok {
		return fetch.Usage.Errorf("--match is exact, part, case or regexp, not %q", c.match)
	}
	write := c.format.Writer(c.Stdout).Limit(c.max)
	o := download.Options{Native: c.native, Prospero: prospero.Options{Match: mode}}
	return download.ForEach(ctx, c.Streams, &c.flags, args[:1], o, func(j *download.Job) error {
		u, err := arguments.ParseURL(j.Retrieval.Streams, j.Argument, c.flags.Client.Policy.ProtoDefault)
		if err != nil {
			return err
		}
		if u, err = j.Client.Query(u, query); err != nil {
			return err
		}
		j.URL = u
		switch {
		case c.urlOnly:
			return console.WriteLine(j.Output, u.String())
		case c.native:
			return j.Download()
		}
		return j.List(write.WriteAll)
	})
}
