package mirror

import (
	"context"
	"encoding/json"

	"github.com/anyurl/fetch/internal/archive"
	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/uri"
)

// startRun starts a new run or continues an unfinished one, and adds the seeds
// to the frontier.
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

// maxNote is the maximum size of the note of a run, in bytes. The seeds of a
// longer list are not recorded, and a later command with other seeds does not
// continue them.
const maxNote = 1 << 20

// runNote is the note that a run records when it starts.
type runNote struct {
	Seeds []string `json:"seeds"`
}

// addRecordedSeeds adds the seeds of the command that started the run to the
// seeds of this command, because URLs below them may be pending. The database
// may come from an untrusted source. A recorded seed is therefore ignored
// unless its domain is the domain of a seed of this command.
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

// requeueMissing requeues messages that the archive lacks. A message can be
// missing because it failed in an earlier run, because its file was deleted, or
// because this run writes another format. No later listing contains it, because
// a listing starts after the last message that was read.
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
			_, err := c.queue.Requeue(ctx, frontier.Kept) // a message that exists costs no request
			return err
		}
	}
	return nil
}
