package mirrorcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/crawlflags"
	"github.com/anyurl/fetch/mirror"
)

// printDryRun prints the seeds of a run, the URLs that an earlier run left
// pending, and the settings. It sends no request and writes no file.
func (c *mirrorCommand) printDryRun(ctx context.Context, o *mirror.Options) error {
	var text strings.Builder
	pending, err := pendingURLs(ctx, o.Dir)
	if err != nil {
		return err
	}
	state := "new"
	switch {
	case len(pending) > 0:
		state = "the run would resume it"
	case pending != nil:
		state = "the run would update it"
	}
	fmt.Fprintf(&text, "archive: %s (%s)\n", o.Dir, state)
	for _, u := range o.Seeds {
		fmt.Fprintf(&text, "URL: %s\n", u)
	}
	for _, u := range pending {
		fmt.Fprintf(&text, "pending: %s\n", u)
	}
	for _, f := range storedFlags(o) {
		if value := strings.Join(f.values, ","); value != "" && value != "false" && (value != "0" || f.explicit || f.name == "depth") {
			fmt.Fprintf(&text, "--%s=%s\n", f.name, quoteSpaces(value))
		}
	}
	return c.Print(strings.TrimSuffix(text.String(), "\n"))
}

// maxPending limits the number of pending URLs that a dry run prints.
const maxPending = 1000

// pendingURLs returns at most maxPending pending URLs of the archive in dir. It
// returns nil if there is no archive.
func pendingURLs(ctx context.Context, dir string) ([]string, error) {
	urls := []string{}
	for line, err := range mirror.Open(mirror.Location{Dir: dir}).Dump(ctx, mirror.Pending) {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, crawlflags.AdviseArchive(dir, err)
		}
		if urls = append(urls, line.URL); len(urls) == maxPending {
			break
		}
	}
	return urls, nil
}
