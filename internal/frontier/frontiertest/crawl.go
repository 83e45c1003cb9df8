package frontiertest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/frontier"
)

// crawl lets workers visit a virtual web, one of which dies and speaks up once
// more when it is too late.
func crawl(t *testing.T, e Engine, pages int) {
	t.Run("one handle", func(t *testing.T) {
		tr := begin(t, e)
		newWeb(tr, pages).visit(func(int) frontier.Frontier { return tr.Frontier })
	})
	if !e.Lasts {
		return
	}
	t.Run("a handle each", func(t *testing.T) {
		tr := begin(t, e)
		handles := make([]frontier.Frontier, workers)
		for i := range handles {
			var err error
			handles[i], err = e.Open(tr.ctx, tr.place, tr.now)
			tr.ok(err)
			defer handles[i].Close()
		}
		newWeb(tr, pages/3).visit(func(i int) frontier.Frontier { return handles[i] })
	})
}

const (
	workers = 4
	rest    = 10 * time.Millisecond // between two leases of a host
	ttl     = time.Hour
)

// web is a graph of pages, and what its visitors saw of each other.
type web struct {
	*trial
	pages int

	mu      sync.Mutex
	changed sync.Cond
	busy    int                        // workers that may still do something
	holder  map[string]*frontier.Lease // by host
	next    map[string]time.Time       // by host
	visits  map[string]int             // that were recorded, by URL
	dead    *frontier.Lease
}

func newWeb(tr *trial, pages int) *web {
	w := &web{trial: tr, pages: pages, holder: map[string]*frontier.Lease{}, next: map[string]time.Time{}, visits: map[string]int{}}
	w.changed.L = &w.mu
	return w
}

func (w *web) page(n int) frontier.Item {
	i := url(fmt.Sprint("h", n%11), n)
	i.Depth = n
	return i
}

// links of a page: to three that nobody else links to, and two others.
func (w *web) links(n int) (items []frontier.Item) {
	for _, to := range []int{3*n + 1, 3*n + 2, 3*n + 3, n / 2, 7 * n % w.pages} {
		if to < w.pages {
			i := w.page(to)
			i.Via = w.page(n).Key
			items = append(items, i)
		}
	}
	return items
}

// visit crawls it all.
func (w *web) visit(handle func(worker int) frontier.Frontier) {
	w.add(1, w.page(0))
	w.busy = workers
	var all sync.WaitGroup
	for i := range workers {
		all.Go(func() { w.work(handle(i), i) })
	}
	all.Wait()
	if w.Failed() {
		return
	}
	st := w.stats()
	if st.States[frontier.Done] != int64(w.pages) || st.States[frontier.Pending] != 0 || st.Hosts != 0 {
		w.Errorf("at the end: %+v; want %d done", st, w.pages)
	}
	seen := map[frontier.Key]bool{}
	for c, err := range w.Captures(w.ctx) {
		w.ok(err)
		if seen[c.Key] {
			w.Errorf("%s was brought twice", c.URL)
		}
		seen[c.Key] = true
	}
	if len(seen) != w.pages || len(w.visits) != w.pages {
		w.Errorf("%d pages were brought, %d recorded; want %d", len(seen), len(w.visits), w.pages)
	}
	if w.dead == nil {
		w.Error("no worker died")
	} else {
		w.late(w.Frontier, w.dead.Host)
	}
}

// late lets the dead worker speak of a host that is another's now.
func (w *web) late(f frontier.Frontier, host string) {
	w.mu.Lock()
	dead := w.dead
	w.mu.Unlock()
	if dead == nil || dead.Host != host {
		return
	}
	if err := f.Complete(w.ctx, dead, done(dead.Items...), nil); !errors.Is(err, frontier.ErrFenced) {
		w.Errorf("the dead worker spoke of %s: %v", host, err)
	}
}

// work is one worker.
func (w *web) work(f frontier.Frontier, id int) {
	defer func() {
		w.mu.Lock()
		w.busy--
		w.changed.Broadcast()
		w.mu.Unlock()
	}()
	for !w.Failed() {
		ls, err := f.Claim(w.ctx, fmt.Sprint("w", id), 2, 5, ttl)
		if err != nil {
			w.Error(err)
			return
		}
		if len(ls) == 0 {
			if w.idle(f) {
				return
			}
			continue
		}
		w.took(ls)
		if id == 0 && w.dies(ls) {
			return
		}
		for _, l := range ls {
			if err := w.host(f, l); err != nil {
				w.Errorf("%s: %v", l.Host, err)
				return
			}
		}
	}
}

// took checks that nobody else has these hosts, and that they had their rest.
func (w *web) took(ls []*frontier.Lease) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range ls {
		at := l.Until.Add(-ttl)
		if other := w.holder[l.Host]; other != nil && other.Until.After(at) {
			w.Errorf("%s is held twice, by epochs %d and %d", l.Host, other.Epoch, l.Epoch)
		}
		if at.Before(w.next[l.Host]) {
			w.Errorf("%s was claimed at %v, and is to rest until %v", l.Host, at, w.next[l.Host])
		}
		w.holder[l.Host] = l
	}
}

// dies lets a worker end in the middle of a crawl, its hosts in its hands.
func (w *web) dies(ls []*frontier.Lease) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.visits) < w.pages/10 {
		return false
	}
	w.dead = ls[0]
	return true
}

// host visits the pages of a lease.
func (w *web) host(f frontier.Frontier, l *frontier.Lease) error {
	w.late(f, l.Host)
	items := l.Items
	for round := 0; len(items) > 0; round++ {
		var rs []frontier.Result
		for _, i := range items {
			if i.Depth%7 == 3 && i.Attempts == 0 {
				rs = append(rs, frontier.Result{Item: i, Retry: w.now().Add(time.Second), Note: "busy"})
				continue
			}
			rs = append(rs, frontier.Result{Item: i, State: frontier.Done, Capture: brought(i, byte(i.Depth)), Children: w.links(i.Depth)})
		}
		if err := f.Complete(w.ctx, l, rs, nil); err != nil {
			return err
		}
		w.record(rs)
		var err error
		if items, err = f.ClaimMore(w.ctx, l, 5-round); err != nil || round == 4 {
			return err
		}
	}
	next := w.pass(time.Millisecond).Add(rest)
	w.mu.Lock()
	w.holder[l.Host], w.next[l.Host] = nil, next
	w.mu.Unlock()
	defer w.changed.Broadcast()
	return f.Release(w.ctx, l, next)
}

func (w *web) record(rs []frontier.Result) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range rs {
		if r.State != frontier.Done {
			continue
		}
		if w.visits[r.Item.URL]++; w.visits[r.Item.URL] > 1 {
			w.Errorf("%s was visited twice", r.Item.URL)
		}
	}
	w.changed.Broadcast()
}

// idle waits until another worker is done with something, or, where nobody
// works, until something is due. It reports whether nothing is left.
func (w *web) idle(f frontier.Frontier) (end bool) {
	w.mu.Lock()
	w.busy--
	defer func() {
		w.busy++
		w.mu.Unlock()
	}()
	if w.busy > 0 {
		w.changed.Wait()
		return false
	}
	defer w.changed.Broadcast()
	st, err := f.Stats(w.ctx)
	if err != nil {
		w.Error(err)
		return true
	}
	if st.NextDue.After(w.now()) {
		w.pass(st.NextDue.Sub(w.now()))
	}
	return st.States[frontier.Pending] == 0
}
