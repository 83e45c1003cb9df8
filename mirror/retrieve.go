package mirror

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/uri"
)

// newVisit returns a visit of an item. The visit starts now.
func (c *crawl) newVisit(it frontier.Item) *visit {
	now := c.o.Now().UTC().Truncate(time.Microsecond)
	v := &visit{
		findings: findings{memory: c.archive.Memory()}, item: it, meta: c.metas.metaOf(it), started: now, began: now,
	}
	v.meta.Found = c.trust.found(&it)
	return v
}

// visitItem visits the URL of one item. If ctx ends, visitItem returns nil, and
// the item remains pending.
func (c *crawl) visitItem(ctx context.Context, it frontier.Item) *visit {
	v := c.newVisit(it)
	settled, err := c.settle(ctx, v)
	if !settled && err == nil {
		err = c.visitURL(ctx, v)
	}
	if err != nil {
		c.classifyFailure(v, err)
	}
	if ctx.Err() != nil || err != nil && v.content != contentErrorPage { // a WARC record contains the error page
		v.free()
	}
	if ctx.Err() != nil {
		return nil
	}
	return v
}

// settle prepares v and reports whether its outcome needs neither a request nor
// the archived object.
func (c *crawl) settle(ctx context.Context, v *visit) (settled bool, err error) {
	it := &v.item
	if v.meta.Run != c.runNumber || !v.meta.Found { // the listing is out of date
		v.meta.Size, v.meta.Time = nil, time.Time{}
	}
	if err = v.parseURL(); err != nil {
		v.fail(visitDead, err)
		return true, nil
	}
	if it.Key != c.identity.KeyOf(it.URL) && it.Key != frontier.KeyOf(it.URL) { // the database is damaged or forged
		v.exclude("the database has the URL under the key of another URL")
		return true, nil
	}
	v.scheme = c.schemeOf(v.url)
	v.origin, _ = originOf(v.url)
	switch {
	case c.shared != nil && v.hasOrigin() && it.Host != hostOf(v.url): // a lease of another host does not permit the request
		v.exclude("the database has the URL under another host")
		return true, nil
	case c.yieldsLike(v):
		v.outcome = visitYielded
		return true, nil
	case isImmutable(v.scheme, v.url) && it.LastCapture != nil && !c.o.Recheck && c.archive.Has(it.LastCapture):
		v.outcome, v.content = visitKept, contentUnchanged
		return true, nil
	}
	reason, err := c.exclusion(ctx, v)
	if err != nil {
		return false, err
	}
	if reason != "" {
		v.exclude(reason)
		return true, nil
	}
	if err := c.outages.givenUp(v); err != nil {
		v.fail(visitUnreached, err)
		return true, nil
	}
	if err := c.deniedBefore(v); err != nil {
		c.leaveUntrusted(v, err)
		return true, nil
	}
	return false, nil
}

// visitURL retrieves the object of v, unless the archived object is known to be
// up to date.
func (c *crawl) visitURL(ctx context.Context, v *visit) error {
	if reused, err := c.reuseRobots(ctx, v); reused {
		return err
	}
	if c.unchangedByListing(v.item, v.meta) {
		v.content, v.note = contentListed, "unchanged according to the listing"
		return c.rediscover(ctx, v)
	}
	return c.retrieve(ctx, v)
}

const reasonSession = "a session is not a document"

// exclusion returns the reason for excluding v, or "" if v can be requested. It
// checks the scope again, because the scope may have changed since the URL was
// found.
func (c *crawl) exclusion(ctx context.Context, v *visit) (reason string, err error) {
	known := c.trust.isTrusted(v)
	if v.meta.SeedTarget != "" {
		if under, err := uri.Parse(v.meta.SeedTarget); err == nil && (known || c.trust.inSeedDomain(under)) {
			c.scope.addSeed(under)
		}
	}
	v.meta.Referenced = v.meta.Referenced && known
	switch limit := c.o.Limits.FileSize; {
	case c.tally.hostExhausted(v.item):
		return reasonHostLimit, nil
	case limit > 0 && v.meta.Size != nil && *v.meta.Size > limit && v.scheme.Traits.ListsExactSizes:
		return "too large", nil
	case v.scheme.Traits.Session:
		return reasonSession, nil
	case v.item.Depth == 0 && (c.trust.isSeed(v) || v.meta.From != "" && (known || c.scope.includesSite(v.url))):
		return "", nil
	}
	check := func() (reason string) {
		reason, _ = c.scope.checkLink(v.url, v.text, v.item.Depth, v.meta.OutOfReach-1, v.meta)
		return reason
	}
	if reason = check(); reason == reasonScope && c.shared != nil { // another worker may have joined with further seeds
		var changed bool
		if changed, err = c.reloadSeeds(ctx); changed {
			reason = check()
		}
	}
	return reason, err
}

// unchangedByListing reports whether a listing shows the size and time of the
// archived object, so that no request is needed. A time without seconds does
// not count, because it may be rounded.
func (c *crawl) unchangedByListing(it frontier.Item, mt meta) bool {
	last := it.LastCapture
	return !c.o.Recheck && last != nil && mt.Size != nil && *mt.Size == last.Size &&
		mt.Time.Second() != 0 && mt.Time.Equal(last.Modified) && c.archive.Has(last)
}

// retrieve sends the request for v and reads the response.
func (c *crawl) retrieve(ctx context.Context, v *visit) error {
	req := c.newRequest(v)
	v.exchange, v.requested = c.newExchange(v), true
	// The Trace distinguishes this request from requests for the rules of a
	// robots.txt, which have none.
	req.Trace = v.exchange.Trace(nil)
	c.prepareForBrowser(v, req)
	c.restoreMark(v)
	part, err := c.openPart(v, req)
	if err != nil {
		return err
	}
	resp, err := c.send(ctx, req)
	if err != nil {
		c.archive.ReleasePart(v.item, part, err)
		return err
	}
	defer resp.Body.Close()
	v.resp = resp
	v.exchange.Respond(resp)
	v.exchange.OmitBody()
	if isRobotsTxt(v.scheme, v.url) {
		v.started = c.robots.requestTime(v)
	}
	if reason := c.rejectedResponse(v); reason != "" {
		c.archive.ReleasePart(v.item, part, nil)
		v.exclude(reason)
		return nil
	}
	if err := archive.JoinDistinct(c.readBody(v, part), v.exchange.Err()); err != nil {
		return err
	}
	v.finishResumed()
	return c.processResponse(ctx, v)
}

// processResponse finds out how the object of v relates to the archived object, and
// extracts its links.
func (c *crawl) processResponse(ctx context.Context, v *visit) error {
	resp, last := v.resp, v.item.LastCapture
	if resp.Doubt != "" {
		v.note = resp.Doubt
	}
	switch {
	case resp.Unchanged, resp.Doubt != "" && last != nil && c.archive.Has(last):
		v.content = contentUnchanged
		return c.rediscover(ctx, v)
	case resp.Fault != nil:
		v.content = contentErrorPage
		return resp.Fault
	}
	if again := c.changedSinceListing(v); again {
		return nil
	}
	if last != nil && last.Digest == v.digest && sameCode(last.Code, resp.Code) {
		v.content = contentSame
		if c.archive.LacksFile(last) || c.archive.LostRecord(last) {
			v.content = contentRestored
		}
	}
	if c.opensInBrowser(v) {
		if err := c.openPage(ctx, v); err != nil {
			return err
		}
	}
	if err := c.discover(ctx, v); err != nil {
		return err
	}
	c.saveMark(v)
	if v.redirects() {
		if last != nil && last.Path != "" && !c.archive.LacksFile(last) {
			if v.content = contentFileKept; v.outcome == visitDone {
				v.note = "redirected: tree/ keeps the earlier object"
			}
		}
		return nil
	}
	if reason := c.scope.checkMedia(resp.Media); reason != "" {
		v.exclude(reason)
	} else if isImmutable(v.scheme, v.url) {
		v.outcome = visitKept
	}
	return nil
}

// sameCode reports whether the codes of two responses have the same meaning. The
// code of an ftp transfer is the code of its preliminary reply: 125 if the data
// connection was already open, and 150 otherwise.
func sameCode(a, b int) bool { return a == b || a/100 == 1 && b/100 == 1 }

// send sends a request. If the server redirects to the same item, send repeats
// the request, because the next response may differ. Only the last exchange is
// recorded.
func (c *crawl) send(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	for hops := 0; ; hops++ {
		resp, err := c.o.Client.Do(ctx, req)
		if err != nil || hops == maxRedirects || resp.Location.IsZero() {
			return resp, err
		}
		if c.identity.Identity(archive.Canonical(resp.Location)) != c.identity.Identity(archive.Canonical(req.URL)) {
			return resp, nil
		}
		resp.Body.Close()
		req.URL = resp.Location.WithoutUserinfo().WithoutFragment() // an equivalent URL
		req.Trace.Restarted()
	}
}

// rejectedResponse returns the reason for not reading the response body, or ""
// if it can be read.
func (c *crawl) rejectedResponse(v *visit) string {
	switch limit := c.o.Limits.FileSize; {
	case v.resp.Kind == fetch.Session:
		return reasonSession
	case v.resp.Kind == fetch.Index && v.resp.Size < 0 && v.resp.Media == "":
		return "an index needs search words"
	case limit > 0 && v.resp.Size > limit:
		return "too large"
	case v.resp.Unchanged || v.resp.Fault != nil || v.redirects() || c.hasLinks(v):
		return ""
	default:
		return c.scope.checkMedia(v.resp.Media)
	}
}

// readBody reads the complete response body and verifies its end. If part is
// not nil, readBody appends to this partial file.
func (c *crawl) readBody(v *visit, part *save.File) (err error) {
	if v.body, err = c.openSpool(v, part); err != nil {
		return err
	}
	if size := v.resp.Size; size >= 0 && size < archive.MaxInMemory {
		v.body.Grow(int(size) + 1) // one additional byte for the read that returns io.EOF
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

// changedSinceListing reports whether v must be visited again, because the size
// of the object differs from the size in the listing. After a second visit, it
// returns false and adds a note.
func (c *crawl) changedSinceListing(v *visit) (again bool) {
	announced := v.meta.Size
	if announced == nil || *announced == v.size || v.resp.Kind == fetch.Menu || !v.scheme.Traits.ListsExactSizes {
		return false
	}
	if v.item.Attempts == 0 {
		v.outcome, v.retry, v.note = visitRetried, v.started, "changed since it was listed"
		v.freeBody()
		return true
	}
	v.note = "the size differs from the listing"
	return false
}

// newRequest returns the request for the URL of v.
func (c *crawl) newRequest(v *visit) *fetch.Request {
	req := &fetch.Request{URL: v.url, NoFollow: true, ErrorBody: true}
	if v.hasOrigin() {
		req.Auth = c.trust.logins[v.origin]
	}
	req.From = c.trust.source(v)
	// The driver lists the messages of a mailbox after the user entered the URL
	// of the mailbox with a password. Requests for these messages count as
	// entered by the user.
	if req.From != nil && req.Auth != nil && v.scheme.Traits.Mailbox {
		if page, _ := originOf(req.From.URL); page == v.origin {
			req.From = nil
		}
	}
	last := v.item.LastCapture
	if !v.unconditional && last != nil && c.archive.Has(last) && !isListing(v.scheme, last.Kind == fetch.Menu.String(), last.Media) {
		req.IfNot = last.Validator
	}
	return req
}

// classifyFailure sets the outcome of v after its visit failed with err.
func (c *crawl) classifyFailure(v *visit, err error) {
	fault := fetch.FaultOf(err)
	rejected := []fetch.Fault{
		fetch.Denied, fetch.BadPort, fetch.BadAddress, fetch.BadReferral, fetch.Unsupported, fetch.NeedQuery,
	}
	unreached := []fetch.Fault{fetch.DNS, fetch.Connect, fetch.Timeout}
	_, fromClient := errors.AsType[*fetch.Error](err) // such as an error without a Fault from the driver of a caller
	switch {
	case fault == fetch.Local, fault == fetch.DiskFull, fault == fetch.Internal && !fromClient:
		v.fail(visitAborted, err)
	case c.mustYield(v, err):
		v.fail(visitYielded, err)
	case c.shared == nil && c.trust.needsTypedSeed(v, err):
		c.leaveUntrusted(v, err)
	case fault == fetch.NotFound && (v.item.LastCapture != nil || v.meta.ArticleName != ""): // such as an expired article
		v.fail(visitGone, err)
	case lacksGuess(v, err):
		v.fail(visitExcluded, err)
	case fault == fetch.TooLarge && c.o.Limits.FileSize > 0,
		v.resp == nil && slices.Contains(rejected, fault):
		v.fail(visitExcluded, err)
	case fetch.Retryable(err) && v.item.Attempts+1 < c.o.Tries:
		v.fail(visitRetried, err)
		v.retry = v.started.Add(max(backoff(v.item.Attempts), retryAfter(err)))
	case v.resp == nil && slices.Contains(unreached, fault):
		v.fail(visitUnreached, err)
	default:
		v.fail(visitDead, err)
	}
}
