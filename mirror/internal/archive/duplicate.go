package archive

import (
	"strings"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// minRevisit is the minimum size, in bytes, of an object that is recorded as a
// revisit of a duplicate. For a smaller object, the revisit record would be
// longer than the object.
const minRevisit = 1 << 10

// findDuplicates returns the earlier captures that have the same content as an
// entry of the batch. The keys of the result are digests.
func (c *commit) findDuplicates() (map[[32]byte]frontier.Capture, error) {
	var digests [][32]byte
	for _, e := range c.batch {
		switch last := e.Result.Item.LastCapture; {
		case c.a.refersToLast(&e):
		case e.Unchanged && last != nil:
			digests = append(digests, last.Digest)
		case e.Body != nil && (e.Size >= minRevisit || e.SameContent):
			digests = append(digests, e.Digest)
		}
	}
	if len(digests) == 0 {
		return map[[32]byte]frontier.Capture{}, nil
	}
	return c.a.frontier.CapturesByDigest(c.ctx, digests)
}

// duplicateOf returns an earlier capture that has the content of e, for a revisit
// record. It returns nil if no such capture has an intact record.
func (c *commit) duplicateOf(e *Entry, duplicates map[[32]byte]frontier.Capture) *frontier.Capture {
	digest, last := e.Digest, e.Result.Item.LastCapture
	if c.a.refersToLast(e) {
		return last
	}
	if e.Unchanged && last != nil {
		digest = last.Digest
	}
	if first, ok := duplicates[digest]; ok && c.a.canRevisit(e, &first) {
		return c.a.originalOf(&first)
	}
	// The first capture has no intact record. With a store, the last record may
	// be in a file of another worker that was not uploaded.
	if last != nil && last.Digest == digest && c.a.uploads == nil && c.a.canRevisit(e, last) {
		return c.a.originalOf(last)
	}
	return nil
}

// refersToLast reports whether e has no content and the last record of its URL
// contains the content. No other record needs to be found then.
func (a *Archive) refersToLast(e *Entry) bool {
	last := e.Result.Item.LastCapture
	return e.Unchanged && last != nil && last.Checksum != 0 && a.uploads == nil && a.canRevisit(e, last)
}

// canRevisit reports whether e may be recorded as a revisit of the record of c.
// If e has content, the record must contain the same content. If e has no
// content, the last record of its URL must have the payload digest of c.
func (a *Archive) canRevisit(e *Entry, c *frontier.Capture) bool {
	if c.ID == "" || c.File == "" || !a.isReferable(c.File) {
		return false
	}
	remote := a.isRemote(c.File) // the record is in the store, which has confirmed its bytes
	if e.Unchanged {
		last := e.Result.Item.LastCapture
		return last.Proof == c.Proof && (remote || a.hasRecord(c) && (last.ID == c.ID || a.hasRecord(last)))
	}
	return c.Digest == e.Digest && c.Size == e.Size && (remote || a.hasObject(c))
}

// isReferable reports whether a revisit record may refer to a record in the WARC
// file with the given name. The name comes from CapturesByDigest. With a store,
// the record must be in the store or in the file of the revisit record, because
// a local file can be lost.
func (a *Archive) isReferable(name string) bool {
	if a.uploads == nil {
		return !a.isRemote(name)
	}
	return name == a.records.current || !a.uploads.Waits(name)
}

// originalOf returns the capture in another archive to which the revisit record
// of c refers. The result has only a URL, a date and a payload digest. If c has
// no such revisit record, originalOf returns c.
func (a *Archive) originalOf(c *frontier.Capture) *frontier.Capture {
	if c.Checksum != 0 || a.isRemote(c.File) { // a revisit record has no checksum
		return c
	}
	h := a.recordHeader(c)
	if h == nil || h.Type() != warc.Revisit || h.Get("WARC-Refers-To") != "" {
		return c
	}
	u, err := uri.Parse(strings.Trim(h.Get("WARC-Refers-To-Target-URI"), "<>"))
	if err != nil {
		return c
	}
	date, _ := time.Parse(time.RFC3339, h.Get("WARC-Refers-To-Date")) // zero if the field is missing
	return &frontier.Capture{URL: u.Unredacted(), Time: date, Proof: c.Proof}
}

// findElsewhere looks up the URL and the payload digest of a group of records in
// Options.Dedup. It returns a capture with only a URL, a date and a payload
// digest, or nil if there is none.
func (a *Archive) findElsewhere(group []*warc.Record) (*frontier.Capture, error) {
	if a.options.Dedup == nil {
		return nil, nil
	}
	original, digest, ok, err := a.options.Dedup.Original(group...)
	if !ok || err != nil {
		return nil, err
	}
	return &frontier.Capture{URL: original.URL.Unredacted(), Time: original.Date, Proof: digest}, nil
}
