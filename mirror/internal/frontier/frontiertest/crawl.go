package frontiertest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// testCrawl runs several workers that crawl generated pages. One worker stops
// without releasing its leases, and later calls Complete with an expired lease.
func testCrawl(t *testing.T, e Engine, pages int) {
	t.Run("one handle", func(t *testing.T) {
		tr := newTrial(t, e)
		newWeb(tr, pages).visit(func(int) frontier.Frontier { return tr.Frontier })
	})
	if !e.Lasts {
		return
	}
	t.Run("one handle per worker", func(t *testing.T) {
		tr := newTrial(t, e)
		handles := make([]frontier.Frontier, workers)
		for i := range handles {
			var err error
			handles[i], err = e.Open(tr.ctx, tr.place, tr.now)
			tr.must(err)
			defer handles[i].Close()
		}
		newWeb(tr, pages/3).visit(func(i int) frontier.Frontier { return handles[i] })
	})
}

const (
	workers   = 4
	hostDelay = 10 * time.Millisecond // minimum time between two leases of a host
	ttl       = time.Hour
)

// A web is a graph of generated pages. It also records the leases and the
// visits of the workers.
type web struct {
	*trial
	pages int

	mu      sync.Mutex
	changed sync.Cond
	busy    int                        // number of workers that are not waiting in idle
	holder  map[string]*frontier.Lease // current lease of each host
	next    map[string]time.Time       // earliest time of the next lease, by host
	visits  map[string]int             // number of completed visits, by URL
	dead    *frontier.Lease            // lease of the stopped worker
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

// links returns the links of page n to five other pages. All pages can be
// reached from page 0.
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

// visit crawls all pages with several workers and checks that each page is
// visited exactly once.
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
		w.must(err)
		if seen[c.Key] {
			w.Errorf("%s was retrieved twice", c.URL)
		}
		seen[c.Key] = true
	}
	if len(seen) != w.pages || len(w.visits) != w.pages {
		w.Errorf("%d pages were retrieved, %d recorded; want %d", len(seen), len(w.visits), w.pages)
	}
	if w.dead == nil {
		w.Error("no worker stopped")
	} else {
		w.checkFenced(w.Frontier, w.dead.Host)
	}
}

// checkFenced checks that Complete rejects the lease of the stopped worker
// after another worker has claimed the host. It does nothing if the lease was
// for another host.
func (w *web) checkFenced(f frontier.Frontier, host string) {
	w.mu.Lock()
	dead := w.dead
	w.mu.Unlock()
	if dead == nil || dead.Host != host {
		return
	}
	if err := f.Complete(w.ctx, dead, doneResults(dead.Items...), nil); !errors.Is(err, frontier.ErrFenced) {
		w.Errorf("Complete by the stopped worker for %s: %v, want ErrFenced", host, err)
	}
}

// work runs one worker.
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
		w.checkClaim(ls)
		if w.stops(ls) {
			return
		}
		for _, l := range ls {
			if err := w.visitHost(f, l); err != nil {
				w.Errorf("%s: %v", l.Host, err)
				return
			}
		}
	}
}

// checkClaim checks that no other worker has a lease for the same host, and
// that the delay of the host has passed.
func (w *web) checkClaim(ls []*frontier.Lease) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range ls {
		at := l.Until.Add(-ttl)
		if other := w.holder[l.Host]; other != nil && other.Until.After(at) {
			w.Errorf("%s has two leases, with epochs %d and %d", l.Host, other.Epoch, l.Epoch)
		}
		if at.Before(w.next[l.Host]) {
			w.Errorf("%s was claimed at %v, before %v", l.Host, at, w.next[l.Host])
		}
		w.holder[l.Host] = l
	}
}

// stops reports whether a worker must stop without releasing its leases. It
// selects the first worker that claims leases after a tenth of the visits.
func (w *web) stops(ls []*frontier.Lease) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead != nil || len(w.visits) < w.pages/10 {
		return false
	}
	w.dead = ls[0]
	return true
}

// visitHost visits pages of the host to which the lease l belongs.
func (w *web) visitHost(f frontier.Frontier, l *frontier.Lease) error {
	w.checkFenced(f, l.Host)
	items := l.Items
	for round := 0; len(items) > 0; round++ {
		var rs []frontier.Result
		for _, i := range items {
			if i.Depth%7 == 3 && i.Attempts == 0 {
				rs = append(rs, frontier.Result{Item: i, Retry: w.now().Add(time.Second), Note: "busy"})
				continue
			}
			rs = append(rs, frontier.Result{Item: i, State: frontier.Done, Capture: newCapture(i, byte(i.Depth)), Children: w.links(i.Depth)})
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
	next := w.advance(time.Millisecond).Add(hostDelay)
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

// idle waits until another worker has made progress, and reports whether the
// crawl is complete. If all workers wait, idle advances the clock to the time
// at which the next host is due.
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
		w.advance(st.NextDue.Sub(w.now()))
	}
	return st.States[frontier.Pending] == 0
}
