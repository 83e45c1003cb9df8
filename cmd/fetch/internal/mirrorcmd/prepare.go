package mirrorcmd

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/uri"
)

// prepare returns the seeds and the options of a run. They come from the flags,
// and from the settings that the archive or the joined crawl stores.
func (c *mirrorCommand) prepare(ctx context.Context, args []string) (seeds seedList, o mirror.Options, err error) {
	joined, err := c.joinCrawl(ctx)
	if err != nil {
		return seeds, o, err
	}
	if seeds, err = c.seeds(ctx, args, joined); err != nil {
		return seeds, o, err
	}
	dir := c.archiveDir(seeds.urls[0])
	if err := c.continueRecords(dir); err != nil {
		return seeds, o, err
	}
	if o, err = c.mirror.options(); err != nil {
		return seeds, o, err
	}
	o.Dir, o.Seeds, o.StoredSeeds, o.DiscardOptions = dir, seeds.urls, seeds.source != userSeeds, c.replays()
	c.mirror.shared.apply(&o)
	c.applyLimits(&o)
	if o.WARC != nil {
		if err := c.addUserAgent(&o.WARC.Info); err != nil {
			return seeds, o, err
		}
	}
	if c.mirror.archive.browse != "" && isWithin(c.mirror.archive.browse, o.Dir) {
		return seeds, o, fetch.Usage.Errorf("--browse requires a directory outside the archive")
	}
	return seeds, o, nil
}

// replays reports whether the mirror reads archives instead of servers.
func (c *mirrorCommand) replays() bool { return len(c.client.Replay.Archives) > 0 }

// archiveDir returns the directory of the archive. Its default depends on the
// first seed.
func (c *mirrorCommand) archiveDir(first uri.URI) string {
	if c.outputDir != "" {
		return c.outputDir
	}
	dir := mirror.DefaultFolder(console.SchemeByName()(first.Scheme()), first)
	c.Note("the archive is %s%c", dir, filepath.Separator)
	return dir
}

// applyLimits sets the limits in o that other commands have too.
func (c *mirrorCommand) applyLimits(o *mirror.Options) {
	limits := &c.client.Limits
	o.Limits.FileSize = int64(limits.MaxFilesize)
	if limits.Set.Changed("per-host") {
		o.PerHost = limits.PerHost
	}
	if o.Delay = time.Duration(limits.Delay); o.Delay == 0 && (limits.Set.Changed("delay") || c.replays()) {
		o.Delay = -1 // no delay for --delay 0 and for replays
	}
}

// addUserAgent adds the User-Agent of the requests to the fields of a warcinfo
// record.
func (c *mirrorCommand) addUserAgent(info *fetch.Header) error {
	agent, err := c.client.HTTP.Agent()
	if err == nil && agent != "" {
		*info = append(*info, fetch.Field{Name: "http-header-user-agent", Value: agent})
	}
	return err
}

// isWithin reports whether name is dir or a directory below dir.
func isWithin(name, dir string) bool {
	name, err := filepath.Abs(name)
	dir, err2 := filepath.Abs(dir)
	if err != nil || err2 != nil {
		return false
	}
	return name == dir || strings.HasPrefix(name, dir+string(os.PathSeparator))
}
