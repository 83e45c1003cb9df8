package archive

import (
	"context"
	"errors"

	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/internal/tree"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// An Entry is what one visit adds to the archive.
type Entry struct {
	URL    uri.URI         // of Result.Item
	Result frontier.Result // Commit completes its Capture and Names

	Menu   bool     // it is a listing, which has a name in its folder
	NoFile bool     // it has no file in the tree: a redirect
	Body   *Spool   // the payload; nil: there is none
	Digest [32]byte // of the payload
	Size   int64    // of the payload

	Same     bool // the object is unchanged, and there is no payload
	Repeated bool // the payload is that of Result.Item.Last

	// Records returns the records of the visit, the main one first. Twin is an
	// earlier capture of the same bytes, or nil.
	Records func(twin *frontier.Capture) ([]*warc.Record, error)
}

// Commit makes the entries part of the archive: the bytes to the disk first,
// then one transaction that names them, and then the names in the tree, which
// the next Open gives if this process is killed before. It calls committed
// after the transaction. An error after the transaction is of the names.
func (a *Archive) Commit(ctx context.Context, l *frontier.Lease, batch []Entry, committed func()) error {
	ctx = context.WithoutCancel(ctx) // what has begun is short, and half of it helps nobody
	a.commits.Lock()
	defer a.commits.Unlock()
	c := &commit{a: a, ctx: ctx, batch: batch, files: make([]*tree.File, len(batch))}
	err := c.write()
	if err == nil {
		err = a.frontier.Complete(ctx, l, c.results(), a.ends())
	}
	if err != nil {
		return Join(Fault(err), c.revoke())
	}
	a.namer.Committed(c.assigned...)
	err = c.publish()
	if a.records != nil {
		err = errors.Join(err, a.records.commit())
	}
	committed()
	return Fault(errors.Join(err, a.journal.flush()))
}

// ends tells how far the WARC files are whole.
func (a *Archive) ends() map[string]int64 {
	if a.records == nil {
		return nil
	}
	return a.records.ends
}

// commit is one batch on its way.
type commit struct {
	a        *Archive
	ctx      context.Context
	batch    []Entry
	files    []*tree.File // nil where nothing goes to the tree
	assigned []tree.Assigned
}

func (c *commit) write() error {
	if c.a.options.Tree {
		if err := c.name(); err != nil {
			return err
		}
		if err := c.fill(); err != nil {
			return err
		}
	}
	if c.a.options.WARC == nil {
		return nil
	}
	return c.record()
}

func (c *commit) results() []frontier.Result {
	all := make([]frontier.Result, len(c.batch))
	for i := range c.batch {
		all[i] = c.batch[i].Result
	}
	return all
}

// name gives each object that goes to the tree a path.
func (c *commit) name() error {
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

// fill writes what goes to the tree into files without a name there, and has
// the disk take them.
func (c *commit) fill() error {
	var open []*tree.File
	for i, e := range c.batch {
		k := e.Result.Capture
		if k == nil || k.Path == "" || e.Repeated && c.a.Has(e.Result.Item.LastCapture) {
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

// publish gives the files their names. One that cannot have its name now gets it
// from the next run.
func (c *commit) publish() error {
	some := false
	var err error
	for i, f := range c.files {
		if f == nil {
			continue
		}
		k := c.batch[i].Result.Capture
		err = errors.Join(err, f.Commit(k.Path, k.Modified))
		c.files[i], some = nil, true
	}
	if !some {
		return nil
	}
	return errors.Join(err, c.a.store.SyncFolders())
}

// revoke removes what the batch wrote.
func (c *commit) revoke() error {
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

// minTwin is the size from which an object that is a copy of another one is
// recorded as such, in bytes: below, the reference is longer.
const minTwin = 1 << 10

// record writes the WARC records of the batch.
func (c *commit) record() error {
	twins, err := c.twins()
	if err != nil {
		return err
	}
	for i := range c.batch {
		if err := c.recordOne(&c.batch[i], twins); err != nil {
			return err
		}
	}
	return c.a.records.w.Sync()
}

// twins returns the first captures of the bytes of this batch.
func (c *commit) twins() (map[[32]byte]frontier.Capture, error) {
	var digests [][32]byte
	for _, e := range c.batch {
		switch last := e.Result.Item.LastCapture; {
		case e.Same && last != nil:
			digests = append(digests, last.Digest)
		case e.Body != nil && (e.Size >= minTwin || e.Repeated):
			digests = append(digests, e.Digest)
		}
	}
	if len(digests) == 0 {
		return map[[32]byte]frontier.Capture{}, nil
	}
	return c.a.frontier.CapturesByDigest(c.ctx, digests)
}

// recordOne writes the records of one visit, as one group.
func (c *commit) recordOne(e *Entry, twins map[[32]byte]frontier.Capture) error {
	var twin *frontier.Capture
	digest, last := e.Digest, e.Result.Item.LastCapture
	if e.Same && last != nil {
		digest = last.Digest
	}
	if t, ok := twins[digest]; ok && t.ID != "" {
		twin = &t
	} else if last != nil && last.ID != "" && last.Digest == digest {
		twin = last // an older one is not in the WARC files
	}
	if twin != nil && !c.a.proven(e, twin) {
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
	k.File, k.Offset, k.Length, k.ID, k.Proof = places[0].File, places[0].Offset, places[0].Length, places[0].ID, places[0].PayloadDigest
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

// proven reports whether e may become a revisit of twin. Content that was
// fetched again must be the object in the record. For an answer without
// content, the record of the last visit must have the payload digest of twin.
func (a *Archive) proven(e *Entry, twin *frontier.Capture) bool {
	if !e.Same {
		return twin.Digest == e.Digest && twin.Size == e.Size && a.proveObject(twin)
	}
	last := e.Result.Item.LastCapture
	return last.Proof == twin.Proof && a.proveRecord(twin) && (last.ID == twin.ID || a.proveRecord(last))
}
