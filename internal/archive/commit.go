package archive

import (
	"context"
	"errors"

	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/internal/tree"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// An Entry contains the results of one visit.
type Entry struct {
	URL    uri.URI         // URL of Result.Item
	Result frontier.Result // Commit sets its Names and the location in its Capture

	Menu   bool     // if true, the object is a listing, which is a file in its folder
	NoFile bool     // if true, store no file in the tree, as for a redirect
	Body   *Spool   // payload, or nil if the visit has no payload
	Digest [32]byte // SHA-256 of the payload
	Size   int64    // bytes in the payload

	Unchanged   bool // if true, the server reported the object as unchanged and sent no payload
	SameContent bool // if true, the payload equals the object of Result.Item.LastCapture

	// Records returns the WARC records of the visit, starting with the main
	// record. The argument twin is an earlier capture of the same content, or
	// nil.
	Records func(twin *frontier.Capture) ([]*warc.Record, error)
}

// Commit adds the entries to the archive. It first writes and syncs the bodies
// and the WARC records. It then commits the database transaction that refers to
// them. Finally, it moves the files to their paths in the tree. An error before
// the transaction leaves the archive unchanged.
//
// Commit calls committed after the transaction. An error after the transaction
// loses no data: the next Open moves the remaining files. Cancellation of ctx
// does not interrupt Commit.
func (a *Archive) Commit(ctx context.Context, l *frontier.Lease, batch []Entry, committed func()) error {
	ctx = context.WithoutCancel(ctx) // a commit is short and must not be interrupted
	a.commits.Lock()
	defer a.commits.Unlock()
	c := &commit{a: a, ctx: ctx, batch: batch, files: make([]*tree.File, len(batch))}
	err := c.write()
	if err == nil {
		err = a.frontier.Complete(ctx, l, c.results(), a.warcEnds())
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
	return Classify(errors.Join(err, a.journal.flush()))
}

// warcEnds returns the new sizes of the WARC files to which the current batch
// has appended records.
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
		all[i] = c.batch[i].Result
	}
	return all
}

// assignPaths sets the path of each object that gets a file in the tree.
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

// stageFiles writes and syncs the new files without moving them to the tree.
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

// publish moves the files to their paths in the tree. If a file cannot be
// moved, the next run moves it.
func (c *commit) publish() error {
	moved := false
	var err error
	for i, f := range c.files {
		if f == nil {
			continue
		}
		k := c.batch[i].Result.Capture
		err = errors.Join(err, f.Publish(k.Path, k.Modified))
		c.files[i], moved = nil, true
	}
	if !moved {
		return nil
	}
	return errors.Join(err, c.a.store.SyncFolders())
}

// rollback discards the files and records of the batch.
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

// minTwin is the minimum size, in bytes, of an object that is recorded as a
// revisit of its twin. The revisit record of a smaller object would be longer
// than the object.
const minTwin = 1 << 10

// writeRecords writes and syncs the WARC records of the batch.
func (c *commit) writeRecords() error {
	twins, err := c.findTwins()
	if err != nil {
		return err
	}
	for i := range c.batch {
		if err := c.writeGroup(&c.batch[i], twins); err != nil {
			return err
		}
	}
	return c.a.records.w.Sync()
}

// findTwins returns the first captures of the contents in this batch, by
// digest.
func (c *commit) findTwins() (map[[32]byte]frontier.Capture, error) {
	var digests [][32]byte
	for _, e := range c.batch {
		switch last := e.Result.Item.LastCapture; {
		case e.Unchanged && last != nil:
			digests = append(digests, last.Digest)
		case e.Body != nil && (e.Size >= minTwin || e.SameContent):
			digests = append(digests, e.Digest)
		}
	}
	if len(digests) == 0 {
		return map[[32]byte]frontier.Capture{}, nil
	}
	return c.a.frontier.CapturesByDigest(c.ctx, digests)
}

// writeGroup writes the records of one visit as one group.
func (c *commit) writeGroup(e *Entry, twins map[[32]byte]frontier.Capture) error {
	var twin *frontier.Capture
	digest, last := e.Digest, e.Result.Item.LastCapture
	if e.Unchanged && last != nil {
		digest = last.Digest
	}
	if t, ok := twins[digest]; ok && t.ID != "" {
		twin = &t
	} else if last != nil && last.ID != "" && last.Digest == digest {
		twin = last // the first capture of the content has no record
	}
	if twin != nil && !c.a.isProvenTwin(e, twin) {
		twin = nil
	}
	group, err := e.Records(twin)
	if len(group) == 0 || err != nil {
		return err
	}
	places, err := c.a.records.write(group)
	if err != nil {
		return err
	}
	k := e.Result.Capture
	if k == nil {
		return nil
	}
	main := places[0]
	k.File, k.Offset, k.Length, k.ID, k.Proof = main.File, main.Offset, main.Length, main.ID, main.PayloadDigest
	if twin != nil {
		k.Proof = twin.Proof
	} else if e.Size >= minTwin {
		twins[e.Digest] = *k
	}
	if twin == nil {
		c.a.proofs.add(proof{k.ID, k.URL, k.Proof, k.Digest})
	}
	c.a.proofs.add(proof{id: k.ID, url: k.URL, payload: k.Proof})
	return nil
}

// isProvenTwin reports whether e may become a revisit of twin. If e has
// content, the record of twin must contain that content. If e has no content,
// the record of the last visit must have the payload digest of twin.
func (a *Archive) isProvenTwin(e *Entry, twin *frontier.Capture) bool {
	if !e.Unchanged {
		return twin.Digest == e.Digest && twin.Size == e.Size && a.proveObject(twin)
	}
	last := e.Result.Item.LastCapture
	return last.Proof == twin.Proof && a.proveRecord(twin) && (last.ID == twin.ID || a.proveRecord(last))
}
