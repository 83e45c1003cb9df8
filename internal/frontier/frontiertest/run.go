// Package frontiertest is the suite that every engine of a frontier must pass.
//
// [Run] runs it. An engine that outlives its process also calls [Main] from
// its TestMain, so that a process can be killed in the middle.
package frontiertest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/frontier"
)

// An Engine is what is tested.
type Engine struct {
	// Place makes room for a new, empty frontier. What it returns is for
	// Open, in another process too.
	Place func(t testing.TB) string

	// Open opens the frontier at a place. Now is its clock.
	Open func(ctx context.Context, place string, now func() time.Time) (frontier.Frontier, error)

	// Lasts says that what was at a place is there when it is opened again,
	// and that two may have it open.
	Lasts bool

	// Copy makes a place of what a power cut would leave of another that is
	// open. Nil: there is no telling.
	Copy func(t testing.TB, place string) string
}

// Run tests e.
func Run(t *testing.T, e Engine) {
	t.Run("Add", func(t *testing.T) { add(t, e) })
	t.Run("Limit", func(t *testing.T) { limit(t, e) })
	t.Run("Park", func(t *testing.T) { park(t, e) })
	t.Run("Revive", func(t *testing.T) { revive(t, e) })
	t.Run("Runs", func(t *testing.T) { runs(t, e) })
	t.Run("Together", func(t *testing.T) { together(t, e) })
	t.Run("Claim", func(t *testing.T) { claim(t, e) })
	t.Run("Lease", func(t *testing.T) { lease(t, e) })
	t.Run("Complete", func(t *testing.T) { complete(t, e) })
	t.Run("Read", func(t *testing.T) { read(t, e) })
	t.Run("Model", func(t *testing.T) { random(t, e, 20) })
	t.Run("Crawl", func(t *testing.T) { crawl(t, e, 150) })
	t.Run("Crash", func(t *testing.T) { crash(t, e, 3) })
	t.Run("Kill", func(t *testing.T) { kill(t, e, 3) })
}

// Soak tests more of what Run tests by chance.
func Soak(t *testing.T, e Engine) {
	t.Run("Model", func(t *testing.T) { random(t, e, 5000) })
	t.Run("Crawl", func(t *testing.T) { crawl(t, e, 20_000) })
	t.Run("Crash", func(t *testing.T) { crash(t, e, 200) })
	t.Run("Kill", func(t *testing.T) { kill(t, e, 20) })
}

// A clock stands until it is moved. It begins at a whole second, since times
// are kept to the microsecond.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) pass(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
	return c.t
}

// A trial is one frontier under test, and what fails it.
type trial struct {
	testing.TB
	frontier.Frontier
	*clock
	ctx   context.Context
	place string
}

// begin opens a new frontier and begins a run.
func begin(t testing.TB, e Engine) *trial {
	t.Helper()
	tr := &trial{TB: t, clock: newClock(), ctx: context.Background(), place: e.Place(t)}
	tr.open(e)
	t.Cleanup(func() { tr.Close() })
	if run, fresh, err := tr.Begin(tr.ctx, nil); run != 1 || !fresh || err != nil {
		t.Fatalf("Begin: run %d, fresh %v, %v; want a fresh run 1", run, fresh, err)
	}
	return tr
}

func (tr *trial) open(e Engine) {
	tr.Helper()
	f, err := e.Open(tr.ctx, tr.place, tr.now)
	if err != nil {
		tr.Fatalf("Open: %v", err)
	}
	tr.Frontier = f
}

// ok fails on an error.
func (tr *trial) ok(err error) {
	tr.Helper()
	if err != nil {
		tr.Fatal(err)
	}
}

func (tr *trial) add(want int, items ...frontier.Item) {
	tr.Helper()
	if n, err := tr.Add(tr.ctx, items); n != want || err != nil {
		tr.Fatalf("Add: %d, %v; want %d", n, err, want)
	}
}

// lease claims one host, which must be want.
func (tr *trial) lease(worker, want string, items int) *frontier.Lease {
	tr.Helper()
	ls, err := tr.Claim(tr.ctx, worker, 1, items, time.Minute)
	if err != nil || len(ls) != 1 || ls[0].Host != want {
		tr.Fatalf("Claim: %v, %v; want the host %s", hostsOf(ls), err, want)
	}
	return ls[0]
}

// none claims, and must get nothing.
func (tr *trial) none(why string) {
	tr.Helper()
	if ls, err := tr.Claim(tr.ctx, "nobody", 9, 9, time.Minute); len(ls) > 0 || err != nil {
		tr.Fatalf("Claim, although %s: %v, %v", why, hostsOf(ls), err)
	}
}

func (tr *trial) stats() frontier.Stats {
	tr.Helper()
	st, err := tr.Stats(tr.ctx)
	tr.ok(err)
	return st
}

func (tr *trial) state(s frontier.State) (urls []string) {
	tr.Helper()
	for item, err := range tr.Items(tr.ctx, s) {
		tr.ok(err)
		urls = append(urls, item.URL)
	}
	return urls
}

func (tr *trial) want(s frontier.State, urls ...string) {
	tr.Helper()
	if got := tr.state(s); fmt.Sprint(got) != fmt.Sprint(urls) {
		tr.Fatalf("items that are %v: %v; want %v", s, got, urls)
	}
}

// url is an item of a host.
func url(host string, n int) frontier.Item {
	text := fmt.Sprintf("http://%s/%d", host, n)
	return frontier.Item{Key: frontier.KeyOf(text), URL: text, Host: host}
}

func hostsOf(ls []*frontier.Lease) (hosts []string) {
	for _, l := range ls {
		hosts = append(hosts, l.Host)
	}
	return hosts
}

func urlsOf(items []frontier.Item) (urls []string) {
	for _, i := range items {
		urls = append(urls, i.URL)
	}
	return urls
}

func done(items ...frontier.Item) (rs []frontier.Result) {
	for _, i := range items {
		rs = append(rs, frontier.Result{Item: i, State: frontier.Done})
	}
	return rs
}

// brought is a capture of an item.
func brought(item frontier.Item, digest byte) *frontier.Capture {
	return &frontier.Capture{Key: item.Key, URL: item.URL, Run: 1, Kind: "document", Size: 10, Digest: [32]byte{0: digest, 31: 1}}
}
