// Package frontiertest contains the tests that every implementation of a
// frontier must pass.
//
// [Run] runs the tests. If the frontier is stored in files, TestMain must also
// call [Main], because a test starts and kills processes.
package frontiertest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// An Engine is an implementation of [frontier.Frontier] that is tested.
type Engine struct {
	// Place returns the location of a new frontier. This process and other
	// processes can open the frontier there.
	Place func(t testing.TB) string

	// Open opens the frontier at the given place. It uses the function now as
	// its clock.
	Open func(ctx context.Context, place string, now func() time.Time) (frontier.Frontier, error)

	// If Lasts is true, the frontier is stored in a file. It can be opened
	// again, and several processes can open it at the same time.
	Lasts bool

	// Copy copies an open frontier in the state that a power failure would
	// leave. It returns the location of the copy. Copy is nil if the engine has
	// no file.
	Copy func(t testing.TB, place string) string
}

// Run runs all tests on e. With -short, the randomized tests have fewer seeds.
func Run(t *testing.T, e Engine) {
	model, crawl, kills := uint64(20), 150, 3
	if testing.Short() {
		model, crawl, kills = 5, 40, 1
	}
	t.Run("Add", func(t *testing.T) { testAdd(t, e) })
	t.Run("Limit", func(t *testing.T) { testLimit(t, e) })
	t.Run("Postpone", func(t *testing.T) { testPostpone(t, e) })
	t.Run("Defer", func(t *testing.T) { testDefer(t, e) })
	t.Run("Revive", func(t *testing.T) { testRevive(t, e) })
	t.Run("Runs", func(t *testing.T) { testRuns(t, e) })
	t.Run("TwoHandles", func(t *testing.T) { testTwoHandles(t, e) })
	t.Run("Claim", func(t *testing.T) { testClaim(t, e) })
	t.Run("Lease", func(t *testing.T) { testLease(t, e) })
	t.Run("Control", func(t *testing.T) { testControl(t, e) })
	t.Run("Complete", func(t *testing.T) { testComplete(t, e) })
	t.Run("Unlogged", func(t *testing.T) { testUnlogged(t, e) })
	t.Run("LimitWaits", func(t *testing.T) { testLimitWaits(t, e) })
	t.Run("Read", func(t *testing.T) { testRead(t, e) })
	t.Run("Relocate", func(t *testing.T) { testRelocate(t, e) })
	t.Run("Seal", func(t *testing.T) { testSeal(t, e) })
	t.Run("Model", func(t *testing.T) { testModel(t, e, model) })
	t.Run("Crawl", func(t *testing.T) { testCrawl(t, e, crawl) })
	t.Run("Crash", func(t *testing.T) { testCrash(t, e, 3) })
	t.Run("Kill", func(t *testing.T) { testKill(t, e, kills) })
}

// Soak runs the randomized tests of [Run] with more random seeds.
func Soak(t *testing.T, e Engine) {
	t.Run("Model", func(t *testing.T) { testModel(t, e, 5000) })
	t.Run("Crawl", func(t *testing.T) { testCrawl(t, e, 20_000) })
	t.Run("Crash", func(t *testing.T) { testCrash(t, e, 200) })
	t.Run("Kill", func(t *testing.T) { testKill(t, e, 20) })
}

// A clock is a fake clock that moves only when advance is called. It starts at
// a full second, because the time must be a multiple of one microsecond.
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

func (c *clock) advance(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
	return c.t
}

// A trial is a frontier under test.
type trial struct {
	testing.TB
	frontier.Frontier
	*clock
	ctx   context.Context
	place string
}

// newTrial opens a new frontier and starts a run.
func newTrial(t testing.TB, e Engine) *trial {
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

// must fails the test if err is not nil.
func (tr *trial) must(err error) {
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

// lease claims one host. It fails the test if the host is not want.
func (tr *trial) lease(worker, want string, items int) *frontier.Lease {
	tr.Helper()
	ls, err := tr.Claim(tr.ctx, worker, 1, items, time.Minute)
	if err != nil || len(ls) != 1 || ls[0].Host != want {
		tr.Fatalf("Claim: %v, %v; want the host %s", hostsOf(ls), err, want)
	}
	return ls[0]
}

// noClaim checks that Claim returns no leases.
func (tr *trial) noClaim(why string) {
	tr.Helper()
	if ls, err := tr.Claim(tr.ctx, "w", 9, 9, time.Minute); len(ls) > 0 || err != nil {
		tr.Fatalf("Claim, although %s: %v, %v", why, hostsOf(ls), err)
	}
}

func (tr *trial) stats() frontier.Stats {
	tr.Helper()
	st, err := tr.Stats(tr.ctx)
	tr.must(err)
	return st
}

func (tr *trial) state(s frontier.State) (urls []string) {
	tr.Helper()
	for item, err := range tr.Items(tr.ctx, s) {
		tr.must(err)
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

// url returns an item with the nth URL of host.
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

func doneResults(items ...frontier.Item) (rs []frontier.Result) {
	for _, i := range items {
		rs = append(rs, frontier.Result{Item: i, State: frontier.Done})
	}
	return rs
}

// newCapture returns a capture of item.
func newCapture(item frontier.Item, digest byte) *frontier.Capture {
	return &frontier.Capture{Key: item.Key, URL: item.URL, Run: 1, Kind: "document", Size: 10, Digest: [32]byte{0: digest, 31: 1}}
}
