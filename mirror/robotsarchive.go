package mirror

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/robots"
	"github.com/anyurl/fetch/internal/format/coding"
	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/uri"
)

// A robotsResult describes the last response to a request for a robots.txt. It
// is stored in the meta of the item. While it is valid, no run requests the
// file again.
type robotsResult struct {
	Time     time.Time `json:"time"` // time of the request
	Code     int       `json:"code"`
	Location string    `json:"location,omitempty"` // target of a redirect
}

// isValid reports whether r is a complete response for the robots.txt at u, less
// than maxRobotsAge old at the time now. The parameter last is the archived
// robots.txt, or nil. A redirect must lead to the same server, because the
// database may be forged.
func (r *robotsResult) isValid(u uri.URI, now time.Time, a *archive.Archive, last *frontier.Capture) bool {
	if r == nil || r.Time.After(now) || now.Sub(r.Time) >= maxRobotsAge {
		return false
	}
	switch {
	case r.Code/100 == 4:
		return r.Code != 429
	case r.Code/100 == 3:
		to, err := uri.Parse(r.Location)
		target, ok := originOf(to)
		origin, _ := originOf(u)
		return err == nil && ok && target == origin
	}
	return r.Code == 200 && last != nil && last.Code == 200 && a.Has(last)
}

// robotsResultOf returns the result of a visit of robots.txt. It returns nil if
// the next run must request the file again.
func robotsResultOf(v *visit) *robotsResult {
	if v.meta.Robots != nil && !v.requested {
		return v.meta.Robots
	}
	if v.resp == nil || !v.requested || v.outcome.state() == frontier.Pending {
		return nil
	}
	r := &robotsResult{Time: v.started, Code: v.resp.Code}
	switch {
	case !v.resp.Location.IsZero():
		r.Location = v.resp.Location.WithoutUserinfo().Unredacted()
	case v.resp.Unchanged:
		r.Code = 200
	}
	return r
}

// storedRobots returns the valid result of an earlier request for the
// robots.txt at u, with its archived object. It returns nil if it finds no valid
// result.
func (c *crawl) storedRobots(ctx context.Context, u uri.URI) (*robotsResult, *frontier.Capture) {
	if c.o.Recheck {
		return nil, nil
	}
	keys := []frontier.Key{c.identity.KeyOf(archive.Canonical(u))}
	metas, err := c.queue.Metas(ctx, keys)
	m := metaOf(frontier.Item{Meta: metas[keys[0]]})
	if err != nil || m.Robots == nil {
		return nil, nil
	}
	captures, err := c.queue.NewestCaptures(ctx, keys)
	if err != nil {
		return nil, nil
	}
	var last *frontier.Capture
	if k, ok := captures[keys[0]]; ok {
		last = &k
	}
	if !m.Robots.isValid(u, c.o.Now(), c.archive, last) {
		return nil, nil
	}
	return m.Robots, last
}

// storedRobotsExchange returns the stored response to a request for the
// robots.txt at u, or nil. The response has no recorded bytes.
func (c *crawl) storedRobotsExchange(ctx context.Context, u uri.URI) *robotsExchange {
	r, last := c.storedRobots(ctx, u)
	if r == nil {
		return nil
	}
	x := &robotsExchange{started: r.Time, stored: true, response: fetch.Response{URL: u, Code: r.Code}}
	switch {
	case r.Code/100 == 4:
		x.response.Fault = r.fault()
	case r.Code/100 == 3:
		x.response.Location, _ = uri.Parse(r.Location) // never fails, because isValid has parsed the URL
	default:
		body, err := c.archive.Reopen(ctx, last)
		if err != nil {
			return nil
		}
		defer body.Close()
		x.body, err = io.ReadAll(io.LimitReader(body, robots.MaxSize+1))
		if err != nil || coding.Detect(x.body) != "" {
			return nil
		}
	}
	x.response.Size = int64(len(x.body))
	return x
}

// fault returns the error of a response with the status code 4xx.
func (r *robotsResult) fault() error {
	return fetch.NotFound.Errorf("server answered %d on %s", r.Code, r.Time.Format(time.RFC3339))
}

// reuseRobots completes the visit v of a robots.txt without a request if an
// earlier run requested the file in the last 24 hours. It reports whether it
// completed the visit.
func (c *crawl) reuseRobots(ctx context.Context, v *visit) (ok bool, err error) {
	r := v.meta.Robots
	if r == nil || c.o.Recheck || !isRobotsTxt(v.scheme, v.url) || !r.isValid(v.url, c.o.Now(), c.archive, v.item.LastCapture) {
		return false, nil
	}
	v.meta.Found = false // the database states the response
	v.note = fmt.Sprintf("requested on %s, less than 24 hours ago", r.Time.Format(time.RFC3339))
	switch {
	case r.Code/100 == 4:
		return true, r.fault()
	case r.Code/100 == 3:
		v.content = contentUnchanged
		d := c.newDiscovery(ctx, v, "", false)
		if u, err := uri.Parse(r.Location); err == nil {
			d.addRedirect(u)
		}
		return true, d.finish()
	}
	v.content = contentUnchanged
	return true, c.rediscover(ctx, v)
}
