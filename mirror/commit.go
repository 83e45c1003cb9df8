package mirror

import (
	"context"
	"errors"
	"maps"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/internal/tree"
	"github.com/anyurl/fetch/warc"
)

// commit makes what a batch of visits brought part of the archive: the bytes to
// the disk first, then one transaction that names them, and then the names in
// the tree, which redo gives where this process is killed before.
func (m *mirror) commit(ctx context.Context, l *frontier.Lease, batch []*visit) error {
	ctx = context.WithoutCancel(ctx) // what has begun is short, and half of it helps nobody
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &commit{m: m, ctx: ctx, batch: batch, results: make([]frontier.Result, len(batch)), files: make([]*tree.File, len(batch))}
	err := c.write()
	if err == nil {
		err = m.front.Complete(ctx, l, c.results, m.ends)
	}
	if err != nil {
		m.namer.Dropped(c.assigned...)
		c.discard()
		return also(fault(err), m.rewind())
	}
	m.namer.Committed(c.assigned...)
	maps.Copy(m.safe, m.ends)
	err = errors.Join(c.publish(), m.rotate(m.ends))
	clear(m.ends)
	for i, v := range batch {
		m.count(v, &c.results[i])
	}
	m.look(ctx)
	return fault(errors.Join(err, m.log.flush()))
}

// commit is one batch on its way.
type commit struct {
	m        *mirror
	ctx      context.Context
	batch    []*visit
	results  []frontier.Result
	files    []*tree.File // nil where nothing goes to the tree
	assigned []tree.Assigned
}

func (c *commit) write() error {
	for i, v := range c.batch {
		c.results[i] = frontier.Result{Item: v.item, State: v.state, Retry: v.retry, Park: v.parked, Note: v.note, Children: v.children, Capture: c.m.capture(v)}
	}
	if err := c.name(); err != nil {
		return err
	}
	if err := c.fill(); err != nil {
		return err
	}
	return c.record()
}

// capture is what is known of the object that v brought; nil where that is
// nothing new.
func (m *mirror) capture(v *visit) *frontier.Capture {
	kept := v.state == frontier.Done || v.state == frontier.Kept || v.redirects()
	if v.err != nil || v.same || v.resp == nil || v.body == nil || !kept {
		return nil
	}
	c := &frontier.Capture{
		Key: v.item.Key, URL: v.item.URL, Run: m.total.Run, Time: v.at, Kind: v.resp.Kind.String(),
		Media: v.resp.Media, Code: v.resp.Code, Size: v.size, Digest: v.digest,
		Validator: v.resp.Validator, Modified: v.resp.Time.UTC(),
	}
	if c.Validator == "" && v.mark != "" {
		c.Validator = v.mark
	}
	last := v.item.Last
	if last == nil {
		return c
	}
	c.Path = last.Path
	if v.repeated && last.Validator == c.Validator && last.Modified.Equal(c.Modified) && m.has(last) {
		return nil
	}
	return c
}

// name gives each object that goes to the tree a path.
func (c *commit) name() error {
	if !c.m.Tree {
		return nil
	}
	var wants []tree.Want
	var at []int
	for i, v := range c.batch {
		if k := c.results[i].Capture; k != nil && k.Path == "" && v.resp.Location.IsZero() {
			wants = append(wants, tree.Want{Key: v.item.Key, URL: v.url, Menu: v.resp.Kind == fetch.Menu})
			at = append(at, i)
		}
	}
	if len(wants) == 0 {
		return nil
	}
	var err error
	c.assigned, err = c.m.namer.Assign(c.ctx, wants)
	for j, a := range c.assigned {
		c.results[at[j]].Capture.Path, c.results[at[j]].Names = a.Path, a.Claims
	}
	return err
}

// fill writes what goes to the tree into files without a name there, and has
// the disk take them.
func (c *commit) fill() error {
	if !c.m.Tree {
		return nil
	}
	var open []*tree.File
	for i, v := range c.batch {
		k := c.results[i].Capture
		if k == nil || k.Path == "" || v.repeated && c.m.has(v.item.Last) {
			continue
		}
		f, err := v.body.toFile()
		if err != nil {
			return err
		}
		c.files[i] = f
		open = append(open, f)
	}
	return c.m.store.Sync(open...)
}

// publish gives the files their names. One that cannot have its now gets it from
// the next run.
func (c *commit) publish() error {
	some := false
	var err error
	for i, f := range c.files {
		if f == nil {
			continue
		}
		k := c.results[i].Capture
		err = errors.Join(err, f.Commit(k.Path, k.Modified))
		c.files[i], some = nil, true
	}
	if !some {
		return nil
	}
	return errors.Join(err, c.m.store.SyncFolders())
}

func (c *commit) discard() {
	for _, f := range c.files {
		if f != nil {
			f.Discard()
		}
	}
}

// minTwin is the size from which an object that is a copy of another one is
// recorded as such, in bytes: below, the reference is longer.
const minTwin = 1 << 10

// record writes the WARC records of the batch.
func (c *commit) record() error {
	if c.m.WARC == nil {
		return nil
	}
	twins, err := c.twins()
	if err != nil {
		return err
	}
	for i, v := range c.batch {
		if err := c.one(v, &c.results[i], twins); err != nil {
			return err
		}
	}
	return c.m.warc.Sync()
}

// twins are the first captures of the bytes of this batch.
func (c *commit) twins() (map[[32]byte]frontier.Capture, error) {
	var digests [][32]byte
	for _, v := range c.batch {
		switch last := v.item.Last; {
		case v.same && last != nil:
			digests = append(digests, last.Digest)
		case v.body != nil && (v.size >= minTwin || v.repeated):
			digests = append(digests, v.digest)
		}
	}
	if len(digests) == 0 {
		return map[[32]byte]frontier.Capture{}, nil
	}
	return c.m.front.Payloads(c.ctx, digests)
}

// one writes the records of one visit, as one group.
func (c *commit) one(v *visit, r *frontier.Result, twins map[[32]byte]frontier.Capture) error {
	var twin *frontier.Capture
	digest := v.digest
	if v.same && v.item.Last != nil {
		digest = v.item.Last.Digest
	}
	if t, ok := twins[digest]; ok && t.ID != "" {
		twin = &t
	} else if last := v.item.Last; last != nil && last.ID != "" && last.Digest == digest {
		twin = last // an older one is not in the WARC files
	}
	if twin != nil && !c.m.proven(v, twin) {
		twin = nil
	}
	records, err := c.m.records(v, twin)
	if len(records) == 0 || err != nil {
		return err
	}
	places, err := c.m.warc.Write(records...)
	if err != nil {
		return err
	}
	c.m.reached(places)
	if err := c.m.add(places); err != nil {
		return err
	}
	k := r.Capture
	if k == nil {
		return nil
	}
	k.File, k.At, k.Bytes, k.ID, k.Proof = places[0].File, places[0].Offset, places[0].Length, places[0].ID, places[0].PayloadDigest
	if twin != nil {
		k.Proof = twin.Proof
	} else if v.size >= minTwin {
		twins[v.digest] = *k
	}
	if twin == nil {
		c.m.proofs.add(proof{k.ID, k.URL, k.Proof, k.Digest})
	}
	c.m.proofs.add(proof{id: k.ID, url: k.URL, payload: k.Proof})
	return nil
}

// reached notes how far the WARC files are whole.
func (m *mirror) reached(places []warc.Place) {
	for _, p := range places {
		m.ends[p.File] = max(m.ends[p.File], p.End())
	}
}
