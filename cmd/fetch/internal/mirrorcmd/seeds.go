package mirrorcmd

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/arguments"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A seedSource is the origin of the seeds of a run.
type seedSource int

const (
	userSeeds    seedSource = iota // the command line, an input file, or a file of -K
	archiveSeeds                   // options.json of the archive
	crawlSeeds                     // the database of the joined crawl
)

func (s seedSource) String() string {
	return [...]string{"the command line", "options.json", "the crawl"}[s]
}

// A seedList contains the seeds of a run.
type seedList struct {
	urls   []uri.URI
	source seedSource
}

// seeds returns the URLs that the user entered. If the user entered no URL, it
// returns the seeds of the joined crawl, or of the last run in --output-dir.
func (c *mirrorCommand) seeds(ctx context.Context, args []string, joined []uri.URI) (seedList, error) {
	entered, err := c.enteredURLs(args)
	switch {
	case err != nil || len(entered) > 0:
		return seedList{entered, userSeeds}, err
	case c.inputFile == "" && len(joined) > 0:
		c.Note("the seeds are those of the crawl: %s", seedsText(joined))
		return seedList{joined, crawlSeeds}, nil
	case c.inputFile == "" && c.outputDir != "":
		stored, err := c.storedSeeds(ctx)
		return seedList{stored, archiveSeeds}, err
	}
	return seedList{}, fetch.Usage.Errorf("no URL; see fetch mirror --help")
}

// maxSeeds limits the number of URLs of a glob, because a mirror keeps all seeds
// in memory.
const maxSeeds = 100_000

// enteredURLs returns the URLs on the command line and in the input file. A
// malformed URL is an error, because the archive would be incomplete without the
// URL.
func (c *mirrorCommand) enteredURLs(args []string) (all []uri.URI, _ error) {
	given, err := arguments.Parse(c.Streams, args, arguments.Options{
		Configured: c.config.URLs, InputFile: c.inputFile, DefaultScheme: c.client.Policy.ProtoDefault, GlobOff: c.globOff,
	})
	if err != nil {
		return nil, err
	}
	for _, a := range given {
		if a.Pattern != nil && a.Pattern.Count() > maxSeeds {
			return nil, fetch.Usage.Errorf("a glob with %d URLs is too large for a mirror: the limit is %d",
				a.Pattern.Count(), maxSeeds)
		}
	}
	list := arguments.Reader{Args: given, Name: c.inputFile, Stdin: c.Stdin}
	defer list.Close()
	for {
		a, err := list.Next()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		u, err := arguments.ParseURL(c.Streams, a, c.client.Policy.ProtoDefault)
		switch {
		case err != nil && a.Line > 0:
			return nil, fetch.Usage.Errorf("line %d: %w", a.Line, err)
		case err != nil:
			return nil, err
		}
		all = append(all, u)
	}
}

// seedsText returns the first three seeds and the number of further seeds, as
// text.
func seedsText(seeds []uri.URI) string {
	const shown = 3
	var all []string
	for _, u := range seeds[:min(len(seeds), shown)] {
		all = append(all, u.String())
	}
	if n := len(seeds) - shown; n > 0 {
		all = append(all, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(all, " ")
}
