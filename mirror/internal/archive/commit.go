package archive

import (
	"context"
	"errors"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/tree"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// An Entry contains the results of one visit, for Commit.
type Entry struct {
	URL    uri.URI         // URL of Result.Item
	Result frontier.Result // result for the database; Commit sets Names and the position in the WARC file

	Menu   bool     // if true, the object is a listing, which is stored in the directory that it lists
	NoFile bool     // if true, the object is not stored in the tree, for example because it is a redirect
	Body   *Spool   // payload, or nil if the visit has no payload
	Digest [32]byte // SHA-256 of the payload
	Size   int64    // bytes in the payload

	Unchanged   bool // if true, the server reported the object as unchanged and sent no payload
	SameContent bool // if true, the payload equals the object of Result.Item.LastCapture

	// Line returns the value that Commit appends to the journal as a line of
	// JSON, as Log does. It is called after Commit has set the fields of Result.
	// If Line is nil, the journal gets no line.
	Line func() any

	// Extra returns groups of records without a capture. It may be nil.
	Extra func() ([][]*warc.Record, error)

	// Records returns the WARC records of the visit, starting with the main
	// record. The parameter duplicate is an earlier capture of the same
	// content, or nil.
	Records func(duplicate *frontier.Capture) ([]*warc.Record, error)
}

// Commit adds a batch of entries to the archive in three steps. It first writes
// and syncs the bodies and the WARC records. It then commits a database
// transaction that refers to them. Finally, it moves the files to their paths
// in the tree and writes the lines of the journal. If an error occurs before
// the transaction, the archive is unchanged.
//
// Commit calls committed after the transaction. An error after the transaction
// loses no data, because the next Open moves the remaining files and writes the
// remaining lines. Cancellation of ctx does not interrupt Commit, except while
// the database of a shared crawl is unavailable. The result of the transaction
// is then unknown, and the next Open removes the records that it has not
// committed.
func (a *Archive) Commit(ctx context.Context, l *frontier.Lease, batch []Entry, committed func()) error {
	if a.options.Shared == nil {
		ctx = context.WithoutCancel(ctx)
	}
	a.commits.Lock()
	defer a.commits.Unlock()
	if err := ctx.Err(); err != nil {
		return Classify(err)
	}
	c := &commit{a: a, ctx: ctx, batch: batch, files: make([]*tree.File, len(batch))}
	err := c.write()
	if err == nil {
		err = a.frontier.Complete(ctx, l, c.results(), a.warcEnds())
		if err != nil && ctx.Err() != nil && a.records != nil {
			return JoinDistinct(Classify(err), a.records.abandon())
		}
	}
	if err != nil {
		return JoinDistinct(Classify(err), c.rollback())
	}
	a.namer.Committed(c.assigned...)
	err = c.publish()
	if a.records != nil {
		err = errors.Join(err, a.records.markCommitted())
	}
	committed()
	return Classify(errors.Join(err, c.log()))
}

// BetweenCommits calls f, and no Commit calls committed meanwhile. If a batch is
// being committed, BetweenCommits does not call f.
func (a *Archive) BetweenCommits(f func()) {
	if a.commits.TryLock() {
		defer a.commits.Unlock()
		f()
	}
}

// log writes the lines of the batch to the journal.
func (c *commit) log() error {
	var lines []byte
	for i := range c.batch {
		lines = append(lines, c.batch[i].Result.Line...)
	}
	if err := c.a.journal.write(lines); err != nil || !c.a.journal.isLong() {
		return err
	}
	return c.a.confirmLog(c.ctx)
}

// warcEnds returns the new sizes of the WARC files that the current batch has
// changed.
func (a *Archive) warcEnds() map[string]int64 {
	if a.records == nil {
		return nil
	}
	return a.records.ends
}

// A commit is the state of one call of Archive.Commit.
type commit struct {
	a        *Archive
	ctx      context.Context
	batch    []Entry
	files    []*tree.File // temporary file of each entry, or nil if the entry adds no file
	assigned []tree.Assigned
}

func (c *commit) write() error {
	if c.a.options.Tree {
		if err := c.assignPaths(); err != nil {
			return err
		}
		if err := c.stageFiles(); err != nil {
			return err
		}
	}
	if c.a.options.WARC == nil {
		return nil
	}
	return c.writeRecords()
}

func (c *commit) results() []frontier.Result {
	all := make([]frontier.Result, len(c.batch))
	for i := range c.batch {
		e := &c.batch[i]
		if e.Line != nil {
			e.Result.Line = journalLine(e.Line())
		}
		all[i] = e.Result
	}
	return all
}

// assignPaths chooses the path of each object that is stored in the tree.
func (c *commit) assignPaths() error {
	var wants []tree.Want
	var at []*frontier.Result
	for i := range c.batch {
		e := &c.batch[i]
		if k := e.Result.Capture; k != nil && k.Path == "" && !e.NoFile {
			wants = append(wants, tree.Want{Key: e.Result.Item.Key, URL: e.URL, Menu: e.Menu})
			at = append(at, &e.Result)
		}
	}
	if len(wants) == 0 {
		return nil
	}
	var err error
	c.assigned, err = c.a.namer.Assign(c.ctx, wants)
	for i, assigned := range c.assigned {
		at[i].Capture.Path, at[i].Names = assigned.Path, assigned.Claims
	}
	return err
}

// stageFiles writes and syncs the files of the batch without moving them to the
// tree.
func (c *commit) stageFiles() error {
	var open []*tree.File
	for i, e := range c.batch {
		k := e.Result.Capture
		if k == nil || k.Path == "" || e.SameContent && c.a.Has(e.Result.Item.LastCapture) {
			continue
		}
		f, err := e.Body.toFile()
		if err != nil {
			return err
		}
		c.files[i] = f
		open = append(open, f)
	}
	return c.a.store.Sync(open...)
}

// publish moves the files of the batch to their paths in the tree. The next
// Open moves the files that cannot be moved now.
func (c *commit) publish() error {
	var err error
	for i, f := range c.files {
		if f != nil {
			k := c.batch[i].Result.Capture
			err = errors.Join(err, f.Publish(k.Path, k.Modified))
			c.files[i] = nil
		}
	}
	return errors.Join(err, c.a.store.SyncFolders())
}

// rollback discards the files and WARC records of the batch.
func (c *commit) rollback() error {
	c.a.namer.Dropped(c.assigned...)
	for _, f := range c.files {
		if f != nil {
			f.Discard()
		}
	}
	if c.a.records == nil {
		return nil
	}
	return c.a.records.rewind()
}

// writeRecords writes and syncs the WARC records of the batch.
func (c *commit) writeRecords() error {
	duplicates, err := c.findDuplicates()
	if err != nil {
		return err
	}
	for i := range c.batch {
		if err := c.writeGroup(&c.batch[i], duplicates); err != nil {
			return err
		}
	}
	return c.a.records.w.Sync()
}

// writeExtra writes the records of a visit that have no capture.
func (c *commit) writeExtra(e *Entry) error {
	if e.Extra == nil {
		return nil
	}
	groups, err := e.Extra()
	for _, group := range groups {
		if err == nil {
			_, err = c.a.records.write(group)
		}
	}
	return err
}

// writeGroup writes the WARC records of one visit as a group.
func (c *commit) writeGroup(e *Entry, duplicates map[[32]byte]frontier.Capture) error {
	if err := c.writeExtra(e); err != nil {
		return err
	}
	duplicate := c.duplicateOf(e, duplicates)
	group, err := e.Records(duplicate)
	if err == nil && duplicate == nil && e.Size >= minRevisit && e.Result.Capture != nil {
		if duplicate, err = c.a.findElsewhere(group); duplicate != nil && err == nil {
			group, err = e.Records(duplicate)
		}
	}
	if len(group) == 0 || err != nil {
		return err
	}
	positions, err := c.a.records.write(group)
	if err != nil {
		return err
	}
	k := e.Result.Capture
	if k == nil {
		return nil
	}
	main := positions[0]
	k.File, k.Offset, k.Length, k.ID, k.Proof = main.File, main.Offset, main.Length, main.ID, main.PayloadDigest
	if duplicate != nil {
		k.Proof = duplicate.Proof
		c.a.verified.set(k, intactRecord)
		return nil
	}
	k.Checksum = main.Checksum
	c.a.verified.set(k, intactObject)
	if e.Size >= minRevisit {
		duplicates[e.Digest] = *k
	}
	return nil
}
