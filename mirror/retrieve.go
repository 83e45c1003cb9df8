package mirror

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/archive"
	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/uri"
)

// visit asks for one item. A nil visit says that ctx ended: the item stays.
func (c *crawl) visitItem(ctx context.Context, it frontier.Item) *visit {
	v := &visit{memory: c.archive.Memory(), item: it, meta: c.metaCache.parse(it), started: c.o.Now().UTC().Truncate(time.Microsecond), state: frontier.Done}
	if v.meta.Run != c.runNumber || v.meta.FoundBy != c.trust.token { // an earlier listing proves nothing now
		v.meta.Size, v.meta.Time = nil, time.Time{}
	}
	var err error
	if v.url, err = uri.Parse(it.URL); err != nil {
		return v.fail(frontier.Dead, err)
	}
	if it.Key != frontier.KeyOf(it.URL) { // it would take the rights of another URL
		return v.exclude("the database has it under the key of another URL")
	}
	v.url = v.url.WithoutUserinfo() // only the command has logins
	v.scheme = c.schemeOf(v.url)
	v.origin, v.hasOrigin = originOf(v.url)
	if isImmutable(v.scheme, v.url) && it.LastCapture != nil && !c.o.Recheck && c.archive.Has(it.LastCapture) {
		v.state, v.unchanged = frontier.Kept, true
		return v
	}
	if why := c.exclusion(v); why != "" {
		return v.exclude(why)
	}
	if err := c.outages.givenUp(v); err != nil {
		return v.park(err)
	}
	if c.unchangedByListing(it, v.meta) {
		v.unchanged, v.listed, v.note = true, true, "as the listing says"
		err = c.rediscover(ctx, v)
	} else {
		err = c.retrieve(ctx, v)
	}
	if err != nil {
		c.classifyFailure(v, err)
	}
	if ctx.Err() != nil {
		v.free()
		return nil
	}
	if err != nil && !v.serverRefused { // else the record holds the page that says no
		v.free()
	}
	return v
}

const reasonSession = "a session is not a document"

// unwanted tells why v is not asked for: the scope may have changed since it
// was found.
func (c *crawl) exclusion(v *visit) string {
	known := c.trust.isTrusted(v)
	if v.meta.SeedTarget != "" {
		if under, err := uri.Parse(v.meta.SeedTarget); err == nil && (known || c.trust.inSeedDomain(under)) {
			c.scope.addSeed(under)
		}
	}
	v.meta.Referenced = v.meta.Referenced && known
	switch limit := c.o.Limits.FileSize; {
	case c.tally.hostExhausted(v.item):
		return reasonHostLimit
	case limit > 0 && v.meta.Size != nil && *v.meta.Size > limit && v.scheme.Traits.ListsExactSizes:
		return "too large"
	case v.scheme.Traits.Session:
		return reasonSession
	case v.item.Depth == 0 && (c.trust.isSeed(v) || v.meta.From != "" && (known || c.scope.includesSite(v.url))):
		return ""
	}
	why, _ := c.scope.checkLink(v.url, v.item.URL, v.item.Depth, v.meta.OutOfReach-1, v.meta)
	return why
}

// asListed reports whether a listing proved that it is what we have: its size
// and its time to the second. A time on the minute may be a rounded one.
func (c *crawl) unchangedByListing(it frontier.Item, mt meta) bool {
	last := it.LastCapture
	return !c.o.Recheck && last != nil && mt.Size != nil && *mt.Size == last.Size &&
		mt.Time.Second() != 0 && mt.Time.Equal(last.Modified) && c.archive.Has(last)
}

// bring carries out the request and reads the answer.
func (c *crawl) retrieve(ctx context.Context, v *visit) error {
	req := c.newRequest(v)
	v.recorder, v.requested = c.newRecorder(v.scheme), true
	req.Trace = v.recorder.trace()
	c.restoreMark(v)
	left, err := c.openPart(v, req)
	if err != nil {
		return err
	}
	resp, err := c.send(ctx, req)
	if err != nil {
		c.archive.LeavePart(v.item, left, err)
		return err
	}
	defer resp.Body.Close()
	v.resp = resp
	if why := c.rejectedResponse(v); why != "" {
		c.archive.LeavePart(v.item, left, nil)
		v.exclude(why)
		return nil
	}
	if err := archive.Join(c.readBody(v, left), v.recorder.writeError()); err != nil {
		return err
	}
	if resp.Doubt != "" {
		v.note = resp.Doubt
	}
	switch last := v.item.LastCapture; {
	case resp.Unchanged, resp.Doubt != "" && last != nil && c.archive.Has(last):
		v.unchanged = true
		return c.rediscover(ctx, v)
	case resp.Fault != nil:
		v.serverRefused = true
		return resp.Fault
	}
	if again := c.changedSinceListing(v); again {
		return nil
	}
	last := v.item.LastCapture
	v.sameContent = last != nil && last.Digest == v.digest && last.Code == resp.Code
	v.repaired = v.sameContent && c.archive.LacksFile(last)
	if err := c.discover(ctx, v); err != nil {
		return err
	}
	c.saveMark(v)
	if !resp.Location.IsZero() {
		return nil
	}
	if why := c.scope.checkMedia(resp.Media); why != "" {
		v.exclude(why)
	} else if isImmutable(v.scheme, v.url) {
		v.state = frontier.Kept
	}
	return nil
}

// answer asks for req, and again where the server redirects to the same item:
// the next answer may differ. Only the last exchange is recorded.
func (c *crawl) send(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	for hops := 0; ; hops++ {
		resp, err := c.o.Client.Do(ctx, req)
		if err != nil || hops == maxRedirects || resp.Location.IsZero() || archive.Canonical(resp.Location) != archive.Canonical(req.URL) {
			return resp, err
		}
		resp.Body.Close()
		req.URL = resp.Location.WithoutUserinfo().WithoutFragment() // which may be another spelling
		req.Trace.Restarted()
	}
}

// passOver tells why the body is not worth reading.
func (c *crawl) rejectedResponse(v *visit) string {
	switch limit := c.o.Limits.FileSize; {
	case v.resp.Kind == fetch.Session:
		return reasonSession
	case v.resp.Kind == fetch.Index && v.resp.Size < 0 && v.resp.Media == "":
		return "an index wants words"
	case limit > 0 && v.resp.Size > limit:
		return "too large"
	case v.resp.Unchanged || v.resp.Fault != nil || hasLinks(v):
		return ""
	default:
		return c.scope.checkMedia(v.resp.Media)
	}
}

// read brings the body to its proven end, behind what is left of it.
func (c *crawl) readBody(v *visit, left *save.File) (err error) {
	if v.body, err = c.openSpool(v, left); err != nil {
		return err
	}
	if size := v.resp.Size; size >= 0 && size < archive.MaxInMemory {
		v.body.Grow(int(size) + 1) // and where the end is seen
	}
	src := io.Reader(v.resp.Body)
	if limit := c.o.Limits.FileSize; limit > 0 {
		src = io.LimitReader(src, limit+1-v.body.Size())
	}
	if _, err = io.Copy(v.body, src); err == nil {
		err = v.body.Finish()
	}
	v.size, v.digest = v.body.Size(), v.body.Sum()
	if limit := c.o.Limits.FileSize; limit > 0 && v.size > limit {
		return fetch.TooLarge.Errorf("longer than %d bytes", limit)
	}
	return err
}

// unsteady notices an object that is no longer what its listing announced. It
// is brought once more; if that is no better, the note says so.
func (c *crawl) changedSinceListing(v *visit) (again bool) {
	announced := v.meta.Size
	if announced == nil || *announced == v.size || v.resp.Kind == fetch.Menu || !v.scheme.Traits.ListsExactSizes {
		return false
	}
	if v.item.Attempts == 0 {
		v.state, v.retry, v.note = frontier.Pending, v.started, "changed since it was listed"
		v.body.Free()
		v.body = nil
		return true
	}
	v.note = "its size is not what the listing says"
	return false
}

// request asks for what v names.
func (c *crawl) newRequest(v *visit) *fetch.Request {
	req := &fetch.Request{URL: v.url, NoFollow: true, ErrorBody: true}
	if v.hasOrigin {
		req.Auth = c.trust.logins[v.origin]
	}
	req.From = c.trust.source(v)
	// A mailbox that a person typed with a password is meant with its
	// messages: our own driver made their URLs.
	if req.From != nil && req.Auth != nil && v.scheme.Traits.Mailbox {
		if page, _ := originOf(req.From.URL); page == v.origin {
			req.From = nil
		}
	}
	if last := v.item.LastCapture; last != nil && c.archive.Has(last) && !isListing(v.scheme, last.Kind == fetch.Menu.String(), last.Media) {
		req.IfNot = last.Validator
	}
	return req
}

// newRecorder returns a recorder for an exchange of s. It records nothing where
// no WARC is wanted.
func (c *crawl) newRecorder(s fetch.Scheme) *recorder {
	r := &recorder{}
	if c.o.WARC == nil {
		return r
	}
	if r.mode = s.Mirror.Record; r.mode == fetch.RecordWire {
		r.sent, r.received = c.archive.Spool(""), c.archive.Spool("")
	}
	return r
}

// failed decides what becomes of an item whose visit ended with err.
func (c *crawl) classifyFailure(v *visit, err error) {
	fault := fetch.FaultOf(err)
	v.localFailure = fault == fetch.Local || fault == fetch.DiskFull || fault == fetch.Internal
	switch {
	case v.localFailure:
		v.fail(frontier.Pending, err)
	case fault == fetch.NotFound && (v.item.LastCapture != nil || v.meta.ArticleName != ""): // an article that was listed has expired
		v.fail(frontier.Gone, err)
	case fault == fetch.NotFound && v.meta.Guessed:
		v.fail(frontier.Excluded, err)
	case fault == fetch.TooLarge && c.o.Limits.FileSize > 0,
		slices.Contains([]fetch.Fault{fetch.Denied, fetch.BadPort, fetch.BadAddress, fetch.BadReferral, fetch.Unsupported, fetch.NeedQuery}, fault) && v.resp == nil:
		v.fail(frontier.Excluded, err)
	case fetch.Retryable(err) && v.item.Attempts+1 < c.o.Tries:
		v.fail(frontier.Pending, err)
		v.retry = v.started.Add(max(backoff(v.item.Attempts), retryAfter(err)))
	case v.resp == nil && slices.Contains([]fetch.Fault{fetch.DNS, fetch.Connect, fetch.Timeout}, fault):
		v.park(err)
	default:
		v.fail(frontier.Dead, err)
	}
}
