package mirror

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/uri"
)

// startRun starts a new run, or continues the last run if it is incomplete. It
// adds the seeds to the frontier. If another worker ends the run meanwhile, the
// error is frontier.ErrEnded.
func (c *crawl) startRun(ctx context.Context) error {
	err := c.joinRun(ctx)
	if c.shared != nil && errors.Is(err, frontier.ErrNoRun) {
		return frontier.ErrEnded
	}
	return err
}

// joinRun is like startRun, but returns frontier.ErrNoRun for a run that has ended.
func (c *crawl) joinRun(ctx context.Context) error {
	names := make([]string, len(c.o.Seeds))
	items := make([]frontier.Item, len(c.o.Seeds))
	for i, u := range c.o.Seeds {
		items[i] = c.trust.addSeed(c.o.Client, u)
		names[i] = items[i].URL
	}
	note, err := c.runNote(names)
	if err != nil {
		return err
	}
	run, fresh, err := c.queue.Begin(ctx, note)
	if err != nil {
		return err
	}
	c.newRun, c.runNumber = fresh, run
	c.report.start(run, run > 1 || !fresh)
	if !fresh {
		if err := errors.Join(c.checkShared(ctx), c.addRecordedSeeds(ctx)); err != nil {
			return err
		}
		if err := c.recordSeeds(ctx, names); err != nil {
			return err
		}
	}
	if _, err = c.queue.Add(ctx, items); err != nil {
		return err
	}
	return c.requeueMissing(ctx)
}

// maxNote is the maximum size in bytes of the note in which a run stores its
// seeds. If the note would be larger, the seeds are not stored. A later command
// with other seeds then does not add them to its scope.
const maxNote = 1 << 20

// A runNote is the note that a run stores in the database at its start.
type runNote struct {
	Seeds    []string  `json:"seeds"`
	Settings *settings `json:"settings,omitempty"` // settings that all workers of a shared frontier have in common
}

// parseNote parses a note, which can come from an untrusted source. ChangeLimits
// can make a note slightly larger than maxNote.
func parseNote(text []byte) (n runNote, err error) {
	if len(text) > 2*maxNote {
		return n, fetch.Local.Errorf("the note of the run has %d bytes (limit %d)", len(text), 2*maxNote)
	}
	err = json.Unmarshal(text, &n)
	return n, err
}

func (c *crawl) runNote(seeds []string) ([]byte, error) {
	n := runNote{Seeds: seeds}
	if c.shared != nil {
		n.Settings = sharedSettings(&c.o)
	}
	return n.encode()
}

// encode returns the note as JSON. If the note would exceed maxNote, encode
// omits the seeds or all values.
func (n runNote) encode() ([]byte, error) {
	note, err := json.Marshal(n)
	if err == nil && len(note) > maxNote {
		n.Seeds = nil
		note, err = json.Marshal(n)
	}
	if err == nil && len(note) > maxNote {
		note = []byte("{}")
	}
	return note, err
}

// addRecordedSeeds adds the seeds stored in the database to the seeds of this
// command, because URLs below them may be pending. The database may come from
// an untrusted source. A stored seed is therefore ignored unless its domain is
// the domain of a seed of this command. The database of a shared crawl belongs to
// the user. Its seeds extend the scope, but the Policy does not trust them.
func (c *crawl) addRecordedSeeds(ctx context.Context) error {
	stats, err := c.queue.Stats(ctx)
	if err != nil {
		return err
	}
	note, err := parseNote(stats.Note)
	if err != nil {
		return nil
	}
	if c.shared != nil {
		c.addSharedSeeds(note.Seeds)
	}
	for _, text := range note.Seeds {
		if u, err := uri.Parse(text); err == nil && c.trust.inSeedDomain(u) {
			c.scope.addSeed(u)
			c.trust.seeds[c.identity.KeyOf(archive.Canonical(u))] = true
		}
	}
	return nil
}

// requeueMissing marks messages as pending if the archive does not contain
// them. For example, a message is missing if its file was deleted. Later
// listings do not contain the message, because they start after the last listed
// message.
func (c *crawl) requeueMissing(ctx context.Context) error {
	if c.o.Sink != nil && !c.newRun {
		return nil // the Sink has the messages of this run
	}
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
		if it.LastCapture != nil && !c.archive.Lists(it.LastCapture) {
			_, err := c.queue.Requeue(ctx, frontier.Kept) // existing messages cause no requests
			return err
		}
	}
	return nil
}
