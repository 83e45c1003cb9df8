package mirror

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/anyurl/fetch/capture"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/coding"
	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// addExchanges adds the exchanges of the page v to its openedPage. An object that
// is no page becomes a companion: a visit that is committed together with v. All
// other exchanges, such as the response to a form, are only recorded.
func (c *crawl) addExchanges(ctx context.Context, v *visit, exchanges []*capture.Exchange) error {
	type seen struct {
		method string
		key    frontier.Key
		body   [32]byte // digest of the body of the request
		sum    [32]byte
	}
	p, failed, known := v.page, 0, map[seen]bool{}
	var found []*visit
	for _, x := range exchanges {
		w := c.newCompanion(v, x)
		id := seen{x.Request.Outgoing.Method, w.item.Key, x.RequestSum, x.Sum}
		limit := c.o.Limits.FileSize
		switch {
		case known[id], w.item.Key.IsZero(), limit > 0 && x.Size > limit:
			x.Free()
			continue
		case w.err != nil && !p.sources.IsPage(x.Request.From): // the page itself may request the URL
			x.Free()
			failed++
			continue
		case w.err != nil:
		case x.Err != nil:
			x.Free()
			failed++
			continue
		case !isObject(x):
			p.extra = append(p.extra, x)
			known[id] = true
			continue
		case known[seen{key: w.item.Key}]: // another version of the same object
			p.extra = append(p.extra, x)
			continue
		}
		known[id], known[seen{key: w.item.Key}] = true, true
		found = append(found, w)
	}
	v.addFailures(failed)
	return c.addCompanions(ctx, v, found)
}

// isObject reports whether an exchange contains a complete object, or a
// redirect, that is not a page. A page is visited itself if it is in the scope.
func isObject(x *capture.Exchange) bool {
	resp := x.Response
	return x.Request.Outgoing.Method == http.MethodGet && x.Truncated == "" && resp.Fault == nil &&
		(resp.Code == http.StatusOK && !isPage(resp.Media) || !resp.Location.IsZero())
}

// newCompanion returns a visit for an exchange of the page v. If the Policy has
// denied the request, the visit has the error. If the URL cannot be stored, its
// item has no key.
func (c *crawl) newCompanion(v *visit, x *capture.Exchange) *visit {
	u := x.Request.URL.WithoutUserinfo().WithoutFragment()
	text := archive.Canonical(u)
	w := &visit{
		findings: findings{memory: c.archive.Memory()}, url: u, scheme: c.schemeOf(u), requested: true,
		began: x.Started(), started: x.Started(), resp: x.Response, captured: x,
	}
	w.origin, _ = originOf(u)
	if int64(len(u.Unredacted())) > limitOr(c.o.Limits.URLBytes, defaultURLBytes) || !canMirror(w.scheme) {
		return w
	}
	mt := meta{From: archive.Canonical(v.url), Peer: v.peer(), Requisite: true, SeedTarget: v.meta.SeedTarget}
	if !c.scope.inReach(u, text) {
		mt.OutOfReach = 1
	}
	c.trust.markTrusted(u, text, &mt)
	w.text, w.item = text, newItem(u, text, c.identity.KeyOf(text), v.item, nil)
	w.meta, w.item.Meta = mt, c.trust.encode(&w.item, mt)
	if _, denied := errors.AsType[*fetch.Refusal](x.Err); denied {
		w.requested = false
		w.fail(visitExcluded, x.Err)
	}
	return w
}

// addCompanions adds the visits found to the page v. It omits objects that this
// run has archived before.
func (c *crawl) addCompanions(ctx context.Context, v *visit, found []*visit) error {
	keys := make([]frontier.Key, len(found))
	for i, w := range found {
		keys[i] = w.item.Key
	}
	var last map[frontier.Key]frontier.Capture
	var err error
	if len(keys) > 0 {
		last, err = c.queue.NewestCaptures(ctx, keys)
	}
	for _, w := range found {
		if err == nil && w.err == nil {
			err = c.keepObject(w)
		}
		k, known := last[w.item.Key]
		switch same := known && k.Digest == w.digest && sameCode(k.Code, codeOf(w)); {
		case err != nil, w.err == nil && same && k.Run == c.runNumber, w.item.Key == v.item.Key:
			w.free()
			continue
		case same && c.archive.Has(&k):
			w.content = contentSame
			if c.archive.LacksFile(&k) || c.archive.LostRecord(&k) {
				w.content = contentRestored
			}
		}
		if known {
			w.item.LastCapture = &k
		}
		v.page.companions = append(v.page.companions, w)
	}
	return err
}

func codeOf(v *visit) int {
	if v.resp == nil {
		return 0
	}
	return v.resp.Code
}

// keepObject copies the object of a companion to its body. With a tree, it
// removes the content coding, so that the file can be used.
func (c *crawl) keepObject(w *visit) error {
	w.body = c.archive.Spool(archive.Label(w.item.Key))
	raw, err := w.captured.Body()
	if err != nil {
		return err
	}
	if list, bad := coding.Parse(w.resp.Header.Values("Content-Encoding")); c.o.Tree && bad == nil && len(list) > 0 {
		if _, err := io.Copy(w.body, coding.NewReader(io.NopCloser(raw), list, nil)); err == nil {
			w.size, w.digest = w.body.Size(), w.body.Sum()
			return nil
		}
		w.body.Free() // the object is damaged, so that its bytes are kept
		if raw, err = w.captured.Body(); err != nil {
			return err
		}
	}
	_, err = io.Copy(w.body, raw)
	w.size, w.digest = w.body.Size(), w.body.Sum()
	return err
}

// withCompanions returns the visits, each followed by its companions.
func withCompanions(visits []*visit) (all []*visit) {
	for _, v := range visits {
		all = append(all, v)
		if v.page != nil {
			all = append(all, v.page.companions...)
		}
	}
	return all
}

// extraRecords returns the records of the page v without a capture: of exchanges
// that are no objects, and the copies of the page.
func (v *visit) extraRecords() (groups [][]*warc.Record, err error) {
	for _, x := range v.page.extra {
		group, err := x.Records(nil, "")
		if err != nil {
			return nil, err
		}
		groups = append(groups, group)
	}
	for _, k := range v.page.copies {
		u, err := uri.Parse(copyNames[k.Name] + v.url.WithoutFragment().Unredacted())
		if err != nil {
			continue // the URL of the page cannot be a part of a URN
		}
		of := warc.Capture{URL: u, Date: v.started}
		groups = append(groups, []*warc.Record{of.Resource(k.Media, bytes.NewReader(k.Data))})
	}
	return groups, nil
}

// copyNames contains the beginnings of the URLs of copies, as other crawlers with
// a browser write them.
var copyNames = map[string]string{"screenshot": "urn:view:", "pdf": "urn:pdf:", "text": "urn:text:"}
