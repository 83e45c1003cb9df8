package mirror

import (
	"context"
	"encoding/json"

	"github.com/anyurl/fetch/internal/archive"
	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/uri"
)

// begin starts or continues a run and adds the seeds.
func (c *crawl) startRun(ctx context.Context) error {
	names := make([]string, len(c.o.Seeds))
	items := make([]frontier.Item, len(c.o.Seeds))
	for i, u := range c.o.Seeds {
		items[i] = c.trust.addSeed(c.o.Client, u)
		names[i] = items[i].URL
	}
	note, err := json.Marshal(runNote{names})
	if err != nil {
		return err
	}
	if len(note) > maxNote {
		note = []byte("{}")
	}
	run, fresh, err := c.queue.Begin(ctx, note)
	if err != nil {
		return err
	}
	c.newRun, c.runNumber = fresh, run
	c.report.start(run, run > 1 || !fresh)
	if !fresh {
		if err := c.addRecordedSeeds(ctx); err != nil {
			return err
		}
	}
	if _, err = c.queue.Add(ctx, items); err != nil {
		return err
	}
	return c.requeueMissing(ctx)
}

// maxNote is the size of the largest note of a run, in bytes. The seeds of a
// longer list are not recorded, so that a later command with other seeds does
// not continue them.
const maxNote = 1 << 20

// runNote is the note with which a run begins.
type runNote struct {
	Seeds []string `json:"seeds"`
}

// rejoin adds the seeds with which the run was begun to those of this command,
// because the URLs that they led to are still to be visited. The database may
// come from a stranger, so a seed at a domain that this command does not name
// is ignored.
func (c *crawl) addRecordedSeeds(ctx context.Context) error {
	stats, err := c.queue.Stats(ctx)
	var note runNote
	if err != nil || json.Unmarshal(stats.Note, &note) != nil {
		return err
	}
	for _, text := range note.Seeds {
		if u, err := uri.Parse(text); err == nil && c.trust.inSeedDomain(u) {
			c.scope.addSeed(u)
			c.trust.seeds[frontier.KeyOf(archive.Canonical(u))] = true
		}
	}
	return nil
}

// recall brings messages back into the run that the archive does not have: no
// listing names them again, as each begins behind the one before. They failed
// in an earlier run, or their files were removed, or are wanted in a form that
// was not wanted then.
func (c *crawl) requeueMissing(ctx context.Context) error {
	var failed []frontier.Item
	for it, err := range c.queue.Items(ctx, frontier.Dead) {
		if err != nil {
			return err
		}
		if u, err := uri.Parse(it.URL); err == nil && isImmutable(c.schemeOf(u), u) && metaOf(it).From != "" {
			failed = append(failed, it)
		}
	}
	if _, err := c.queue.Add(ctx, failed); err != nil {
		return err
	}
	for it, err := range c.queue.Items(ctx, frontier.Kept) {
		if err != nil {
			return err
		}
		if it.LastCapture != nil && !c.archive.Has(it.LastCapture) {
			_, err := c.queue.Requeue(ctx, frontier.Kept) // those that are there cost no request
			return err
		}
	}
	return nil
}
