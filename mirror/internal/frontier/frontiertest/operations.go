package frontiertest

import (
	"fmt"
	"maps"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// Hosts and paths that the random operations use.
var (
	hosts = []string{"a", "b", "c"}
	paths = []string{"p", "q", "r", "s", "t"}
)

func (p *play) randomHost() string { return hosts[p.intn(len(hosts))] }

// randomTime returns a random time near the current time, or the zero time.
func (p *play) randomTime() time.Time {
	switch n := p.intn(40); {
	case n < 20:
		return time.Time{}
	case n < 25:
		return p.now()
	default:
		return p.now().Add(time.Duration(n-30) * 4 * time.Second)
	}
}

func (p *play) randomItem(host string) frontier.Item {
	i := url(host, p.intn(6))
	i.Depth, i.Priority, i.NotBefore = p.intn(4), p.intn(3), p.randomTime()
	if p.intn(2) == 0 {
		i.Via = url(p.randomHost(), p.intn(6)).Key
		i.Meta = []byte(fmt.Sprint("meta ", p.intn(4)))
	}
	return i
}

func (p *play) randomItems() (items []frontier.Item) {
	for range p.intn(5) {
		items = append(items, p.randomItem(p.randomHost()))
	}
	return items
}

func (p *play) runAdd() {
	items := p.randomItems()
	p.note("add %v", urlsOf(items))
	n, err := p.Add(p.ctx, items)
	p.checkError(err, !p.model.live)
	if err == nil {
		p.equal("number of added items", n, p.model.add(items))
	}
}

func (p *play) runClaim() {
	most, each, ttl := 1+p.intn(3), 1+p.intn(4), time.Duration(1+p.intn(60))*time.Second
	p.note("claim %d hosts, %d items each, for %v", most, each, ttl)
	ls, err := p.Claim(p.ctx, "w", most, each, ttl)
	p.checkError(err, !p.model.live)
	if err != nil {
		return
	}
	can := 0
	for _, h := range hosts {
		if p.model.claimable(h) {
			can++
		}
	}
	p.equal("number of claimed hosts", len(ls), min(most, can))
	for _, l := range ls {
		if !p.model.claimable(l.Host) {
			p.Errorf("after %s: %s was claimed, although it is not due", p.log[len(p.log)-1], l.Host)
		}
		want := p.model.ready(l.Host)
		want = want[:min(each, len(want))]
		p.equalItems("claimed items", l.Items, want)
		p.equal("objects of the host", l.Objects, p.model.host(l.Host).objects)
		p.equal("epoch", l.Epoch, p.model.claim(l.Host, ttl))
		p.equal("end of the lease", l.Until, p.now().Add(ttl))
		p.equal("number of outstanding items", len(l.Outstanding), len(l.Items))
		p.leases = append(p.leases, l)
	}
}

func (p *play) runClaimMore(l *frontier.Lease) {
	n := p.intn(5)
	p.note("%d more of %s, epoch %d", n, l.Host, l.Epoch)
	want := p.model.more(l, n)
	items, err := p.ClaimMore(p.ctx, l, n)
	if p.isFenced(l, err) {
		return
	}
	p.checkError(err, false)
	p.equalItems("further items", items, want)
}

func (p *play) runExtend(l *frontier.Lease) {
	ttl := time.Duration(1+p.intn(60)) * time.Second
	p.note("extend %s, epoch %d, by %v", l.Host, l.Epoch, ttl)
	err := p.Extend(p.ctx, l, ttl)
	if p.isFenced(l, err) {
		return
	}
	p.checkError(err, false)
	p.model.host(l.Host).until = p.now().Add(ttl)
	p.equal("end of the lease", l.Until, p.now().Add(ttl))
}

func (p *play) runRelease(l *frontier.Lease) {
	next := p.randomTime()
	p.note("release %s, epoch %d, until %v", l.Host, l.Epoch, next)
	err := p.Release(p.ctx, l, next)
	if p.isFenced(l, err) {
		return
	}
	p.checkError(err, false)
	p.model.release(l, next)
}

func (p *play) runComplete(l *frontier.Lease) {
	var rs []frontier.Result
	for range 1 + p.intn(3) {
		rs = append(rs, p.randomResult(l))
	}
	var ends map[string]int64
	if p.intn(2) == 0 {
		ends = map[string]int64{fmt.Sprint("w", p.intn(2)): int64(p.intn(200))}
	}
	p.note("complete %s, epoch %d: %+v", l.Host, l.Epoch, rs)
	out := maps.Clone(l.Outstanding)
	err := p.Complete(p.ctx, l, rs, ends)
	if p.isFenced(l, err) {
		p.equal("outstanding items", l.Outstanding, out)
		return
	}
	valid := p.model.live && p.model.complete(rs, ends)
	p.checkError(err, !valid)
	if valid {
		for _, r := range rs {
			delete(out, r.Item.Key)
		}
	}
	p.equal("outstanding items", l.Outstanding, out)
}

// randomResult returns a result for an item of the lease l, or for another item
// of the same host.
func (p *play) randomResult(l *frontier.Lease) frontier.Result {
	r := frontier.Result{Item: p.randomItem(l.Host), State: frontier.State(p.intn(6))}
	if len(l.Items) > 0 && p.intn(3) > 0 {
		r.Item = l.Items[p.intn(len(l.Items))]
	}
	r.Item.Run, r.Item.Attempts, r.Item.Note, r.Item.LastCapture, r.Item.NotBefore = 0, 0, "", nil, time.Time{}
	if r.State == frontier.Pending {
		r.Retry, r.Postpone = p.randomTime(), p.intn(4) == 0
	}
	r.Defer = p.intn(4) == 0
	if p.intn(3) == 0 {
		r.Note = "a note"
	}
	if p.intn(2) == 0 {
		c := newCapture(r.Item, byte(p.intn(3)))
		c.Run, c.Time, c.Size, c.Path = p.model.run, p.now(), int64(p.intn(256)), paths[p.intn(len(paths))]
		switch p.intn(4) {
		case 0:
			c.URL = fmt.Sprint("news:", p.intn(2))
			c.Key = frontier.KeyOf(c.URL)
		case 1:
			c.File, c.Offset, c.Length, c.ID, c.Proof = fmt.Sprint("w", p.intn(2)), int64(p.intn(256)), 9, "urn:uuid:1", "sha1:A"
			c.Modified, c.Validator, c.Media, c.Code = p.now().Add(-time.Hour), `"etag"`, "text/html", 200
		case 2:
			other := url(p.randomHost(), p.intn(6)) // URL of a capture that differs from the URL of the item
			c.Key, c.URL = other.Key, other.URL
		case 3:
			c.Path = "" // the capture has no file in the tree
		}
		r.Capture = c
		if c.Path != "" {
			r.Names = []frontier.Name{{Fold: c.Path, Key: r.Item.Key}}
		}
		if p.intn(4) == 0 {
			r.Names = []frontier.Name{{Fold: paths[p.intn(len(paths))]}}
		}
	}
	if p.intn(3) == 0 {
		r.Counts, r.Objects, r.Error = frontier.Counts{Files: 1, Bytes: int64(p.intn(99))}, int64(p.intn(2)), []string{"", "dns", "timeout"}[p.intn(3)]
	}
	if p.intn(3) == 0 {
		r.Children = p.randomItems()
	}
	return r
}
