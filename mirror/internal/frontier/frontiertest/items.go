package frontiertest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

func testAdd(t *testing.T, e Engine) {
	tr := newTrial(t, e)
	tr.add(0)
	tr.add(2, url("a", 1), url("a", 2), url("a", 1)) // a duplicate in one call
	tr.add(1, url("a", 2), url("b", 1))              // one known item and one new item
	tr.want(frontier.Pending, "http://a/1", "http://a/2", "http://b/1")

	for name, bad := range map[string]frontier.Item{
		"no key":  {URL: "http://a/3", Host: "a"},
		"no URL":  {Key: frontier.KeyOf("http://a/3"), Host: "a"},
		"no host": {Key: frontier.KeyOf("http://a/3"), URL: "http://a/3"},
	} {
		if _, err := tr.Add(tr.ctx, []frontier.Item{url("a", 9), bad}); err == nil {
			t.Errorf("an item with %s was added", name)
		}
	}
	tr.want(frontier.Pending, "http://a/1", "http://a/2", "http://b/1")

	many := make([]frontier.Item, 3000) // more than a page or a batch
	for i := range many {
		many[i] = url("many", i)
	}
	tr.add(len(many), many...)
	if got := tr.state(frontier.Pending); len(got) != 3003 || got[3] != "http://many/0" || got[3002] != "http://many/2999" {
		t.Errorf("%d items are pending, from %v", len(got), got[:4])
	}

	canceled, cancel := context.WithCancel(tr.ctx)
	cancel()
	if _, err := tr.Add(canceled, []frontier.Item{url("c", 1)}); !errors.Is(err, context.Canceled) {
		t.Errorf("Add with a canceled context: %v", err)
	}
}

// testRuns checks the states of items in two consecutive runs.
func testRuns(t *testing.T, e Engine) {
	tr := newTrial(t, e)
	seed, leaf, lasting, waiting := url("a", 1), url("a", 2), url("a", 3), url("b", 1)
	leaf.Via, leaf.Depth = seed.Key, 1
	tr.add(4, seed, leaf, lasting, waiting)
	l := tr.lease("w", "a", 9)
	rs := doneResults(seed, leaf, lasting)
	rs[1].Capture, rs[2].State = newCapture(leaf, 1), frontier.Kept
	tr.must(tr.Complete(tr.ctx, l, rs, nil))
	tr.must(tr.Release(tr.ctx, l, time.Time{}))
	l = tr.lease("w", "b", 9)
	tr.must(tr.Complete(tr.ctx, l, []frontier.Result{{Item: waiting, Retry: tr.now().Add(time.Hour), Note: "busy"}}, nil))
	tr.must(tr.Release(tr.ctx, l, time.Time{}))

	tr.add(0, seed, leaf, lasting)
	if run, fresh, err := tr.Begin(tr.ctx, nil); run != 1 || fresh || err != nil {
		t.Errorf("Begin in a run: run %d, fresh %v, %v", run, fresh, err)
	}
	tr.must(tr.End(tr.ctx))
	if _, err := tr.Add(tr.ctx, []frontier.Item{seed}); err == nil {
		t.Error("Add succeeded without an active run")
	}
	if _, err := tr.Claim(tr.ctx, "w", 1, 1, time.Minute); err == nil {
		t.Error("Claim succeeded without an active run")
	}

	note := []byte("the second")
	if run, fresh, err := tr.Begin(tr.ctx, note); run != 2 || !fresh || err != nil {
		t.Fatalf("Begin after End: run %d, fresh %v, %v", run, fresh, err)
	}
	if st := tr.stats(); st.Run != 2 || string(st.Note) != string(note) || st.States[frontier.Pending] != 1 || st.States[frontier.Done] != 0 || st.URLs != 4 {
		t.Errorf("a fresh run: %+v", st)
	}
	seed.Depth, seed.Meta = 7, []byte("again")
	seed.Via = leaf.Key
	tr.add(1, seed, lasting) // items in the state Kept remain in this state
	tr.want(frontier.Pending, seed.URL, waiting.URL)
	again := tr.lease("w", "a", 9).Items[0]
	if again.Depth != 7 || string(again.Meta) != "again" || !again.Via.IsZero() {
		t.Errorf("added again as %+v; want the new depth and meta and no via", again)
	}

	// The item becomes due and is then delayed again. Stats must return the new
	// time.
	later := tr.now().Add(time.Minute * 5)
	waiting.NotBefore = later
	tr.add(1, waiting)
	tr.must(tr.Evict(tr.ctx))
	tr.wantMeta(seed.Key, "again")
	results := doneResults(seed)
	results[0].Meta = []byte("completed")
	tr.must(tr.Complete(tr.ctx, tr.lease("w", "a", 9), results, nil))
	tr.wantMeta(seed.Key, "completed")
	if st := tr.stats(); !st.NextDue.Equal(later) {
		t.Errorf("the next is due at %v; want %v", st.NextDue, later)
	}
	for i, err := range tr.Items(tr.ctx, frontier.Pending) {
		if tr.must(err); i.Attempts != 0 || i.Note != "" || !i.NotBefore.Equal(later) {
			t.Errorf("from the last run: %+v", i)
		}
	}

	if n, err := tr.Revive(tr.ctx); n != 1 || err != nil {
		t.Errorf("Revive: %d, %v; want 1 URL that this run has not added", n, err)
	}
	tr.want(frontier.Pending, leaf.URL, waiting.URL)
	if n, err := tr.Revive(tr.ctx); n != 0 || err != nil {
		t.Errorf("Revive again: %d, %v", n, err)
	}
	for i, err := range tr.Items(tr.ctx, frontier.Pending) {
		if tr.must(err); i.URL == leaf.URL && (i.LastCapture == nil || *i.LastCapture != *newCapture(leaf, 1)) {
			t.Errorf("last capture: %+v", i.LastCapture)
		}
	}
}

// testTwoHandles opens a frontier twice. It checks that each handle sees the
// changes that the other handle makes.
func testTwoHandles(t *testing.T, e Engine) {
	if !e.Lasts {
		t.Skip("this engine has one handle")
	}
	one := newTrial(t, e)
	two := &trial{TB: t, clock: one.clock, ctx: one.ctx, place: one.place}
	two.open(e)
	defer two.Close()
	seed := url("a", 1)
	two.add(1, seed)
	one.add(0, seed)
	l := one.lease("one", "a", 1)
	two.noClaim("one has a")
	one.must(one.Complete(one.ctx, l, doneResults(seed), nil))
	one.must(one.End(one.ctx))
	if _, fresh, err := one.Begin(one.ctx, nil); !fresh || err != nil {
		t.Fatal(fresh, err)
	}
	two.add(1, seed) // adds to the run that the first handle has started
	one.want(frontier.Pending, seed.URL)
	two.must(two.Evict(two.ctx))
	if err := one.Extend(one.ctx, l, time.Minute); !errors.Is(err, frontier.ErrFenced) {
		t.Errorf("evicted by the other handle: %v", err)
	}
}

func testComplete(t *testing.T, e Engine) {
	tr := newTrial(t, e)
	page, next, dead := url("a", 1), url("a", 2), url("a", 3)
	tr.add(3, page, next, dead)
	l := tr.lease("w", "a", 2)
	child := url("b", 1)
	child.Via = page.Key
	unlisted := url("a", 4)
	rs := []frontier.Result{
		{Item: page, State: frontier.Done, Capture: newCapture(page, 1), Children: []frontier.Item{child, next, child},
			Names: []frontier.Name{{Fold: "a/1", Key: page.Key}, {Fold: "a"}}},
		{Item: next, Retry: tr.now().Add(time.Minute), Note: "busy"},
		{Item: dead, State: frontier.Dead, Note: "no such host"}, // not claimed
		{Item: unlisted, State: frontier.Excluded},               // a new item
	}
	before := tr.stats()

	for name, bad := range map[string]frontier.Result{
		"of another host":             {Item: url("b", 9), State: frontier.Done},
		"with the name of another":    {Item: next, State: frontier.Done, Names: []frontier.Name{{Fold: "a/1", Key: next.Key}}},
		"with the name of a folder":   {Item: next, State: frontier.Done, Names: []frontier.Name{{Fold: "a", Key: next.Key}}},
		"with a child without a host": {Item: next, State: frontier.Done, Children: []frontier.Item{{Key: frontier.KeyOf("x"), URL: "x"}}},
	} {
		if err := tr.Complete(tr.ctx, l, append(rs[:1:1], bad), map[string]int64{"w": 1}); err == nil || errors.Is(err, frontier.ErrFenced) {
			t.Errorf("a result %s: %v", name, err)
		}
		if after := tr.stats(); after.URLs != before.URLs || after.Captures != 0 || after.States[frontier.Pending] != 3 || len(l.Outstanding) != 2 {
			t.Fatalf("a result %s changed the database: %+v", name, after)
		}
	}

	tr.must(tr.Complete(tr.ctx, l, rs, map[string]int64{"w": 30}))
	if len(l.Outstanding) != 0 {
		t.Errorf("%d items are outstanding", len(l.Outstanding))
	}
	tr.want(frontier.Done, page.URL)
	tr.want(frontier.Dead, dead.URL)
	tr.want(frontier.Excluded, unlisted.URL)
	tr.want(frontier.Pending, next.URL, child.URL)
	for i, err := range tr.Items(tr.ctx, frontier.Dead) {
		if tr.must(err); i.Note != "no such host" {
			t.Errorf("note %q", i.Note)
		}
	}

	// If Complete receives the same result again, the result is counted only
	// once. A different result replaces the previous result.
	tr.must(tr.Complete(tr.ctx, l, doneResults(page, dead), map[string]int64{"w": 20}))
	tr.want(frontier.Done, page.URL, dead.URL)
	if st := tr.stats(); st.States[frontier.Done] != 2 || st.States[frontier.Dead] != 0 || st.URLs != 5 || st.Captures != 1 {
		t.Errorf("after repeated results: %+v", st)
	}
	if ends, err := tr.FileEnds(tr.ctx); err != nil || len(ends) != 1 || ends["w"] != 30 {
		t.Errorf("ends: %v, %v; want w: 30, because lengths never decrease", ends, err)
	}
	tr.advance(2 * time.Minute)
	tr.must(tr.Extend(tr.ctx, l, time.Minute))
	if more, err := tr.ClaimMore(tr.ctx, l, 9); err != nil || len(more) != 1 || more[0].Attempts != 1 || more[0].Note != "busy" {
		t.Errorf("the retried item: %+v, %v", more, err)
	}
}

// testLimit checks that SetPendingLimit drops new URLs of a host with too many
// pending URLs. Seeds and URLs of earlier runs are never dropped.
func testLimit(t *testing.T, e Engine) {
	tr := newTrial(t, e)
	from := func(i frontier.Item) frontier.Item { i.Via = url("z", 0).Key; return i }
	tr.SetPendingLimit(3)
	tr.add(3, from(url("a", 1)), from(url("a", 2)), from(url("a", 3)), from(url("a", 4)))
	tr.add(1, from(url("b", 1)))
	tr.add(1, url("a", 5)) // a seed
	l := tr.lease("w", "a", 9)
	rs := doneResults(url("a", 1), url("a", 2), url("a", 5))
	rs[0].Children = []frontier.Item{from(url("a", 6)), from(url("a", 7)), from(url("a", 8)), from(url("a", 1))}
	tr.must(tr.Complete(tr.ctx, l, rs, nil))
	tr.want(frontier.Pending, "http://a/3", "http://b/1", "http://a/6", "http://a/7")
	if st := tr.stats(); st.Dropped != 2 {
		t.Errorf("%d URLs were dropped, want 2", st.Dropped)
	}
	tr.SetPendingLimit(0)
	tr.add(1, from(url("a", 8)))
	tr.SetPendingLimit(1)
	tr.must(tr.End(tr.ctx))
	_, _, err := tr.Begin(tr.ctx, nil)
	tr.must(err)
	// The pending limit does not apply to the two URLs that an earlier run has
	// added.
	tr.add(2, from(url("a", 1)), from(url("a", 2)), from(url("a", 9)))
}

// testPostpone checks that a postponed item remains pending, but is not claimed
// before the next call of Begin.
func testPostpone(t *testing.T, e Engine) {
	tr := newTrial(t, e)
	tr.add(2, url("a", 1), url("a", 2))
	for n := range 2 { // the first Begin continues the run, and the second starts a new run
		l := tr.lease("w", "a", 9)
		tr.must(tr.Complete(tr.ctx, l, []frontier.Result{
			{Item: url("a", 1), Postpone: true, Note: "no answer"},
			{Item: url("a", 2), Postpone: true},
		}, nil))
		tr.must(tr.Release(tr.ctx, l, time.Time{}))
		tr.advance(1000 * time.Hour)
		tr.noClaim("all items are postponed")
		tr.add(0, url("a", 1))
		if st := tr.stats(); st.Postponed != 2 || st.States[frontier.Pending] != 2 || !st.NextDue.IsZero() {
			t.Errorf("%+v", st)
		}
		if n == 1 {
			tr.must(tr.End(tr.ctx))
		}
		_, fresh, err := tr.Begin(tr.ctx, nil)
		if tr.must(err); fresh != (n == 1) || tr.stats().Postponed != 0 {
			t.Errorf("after Begin, fresh %v: %+v", fresh, tr.stats())
		}
	}
	if l := tr.lease("w", "a", 9); len(l.Items) != 2 {
		t.Errorf("claimed: %v", urlsOf(l.Items))
	}
}

// testDefer checks that deferred items are claimed after the other items of
// their host, also if the next run adds them again in their previous order.
func testDefer(t *testing.T, e Engine) {
	tr := newTrial(t, e)
	items := []frontier.Item{url("a", 1), url("a", 2), url("a", 3)}
	tr.add(3, items...)
	l := tr.lease("w", "a", 2)
	tr.must(tr.Complete(tr.ctx, l, []frontier.Result{
		{Item: items[0], Defer: true}, {Item: items[1], Defer: true, Postpone: true},
	}, nil))
	more, err := tr.ClaimMore(tr.ctx, l, 9)
	if got := urlsOf(more); err != nil || !slices.Equal(got, []string{items[2].URL, items[0].URL}) {
		t.Errorf("in the same run: %v, %v", got, err)
	}
	tr.must(tr.Complete(tr.ctx, l, []frontier.Result{{Item: items[0], Defer: true, State: frontier.Dead}, {Item: items[2], State: frontier.Done}}, nil))
	tr.must(tr.Release(tr.ctx, l, time.Time{}))
	tr.must(tr.End(tr.ctx))
	_, _, err = tr.Begin(tr.ctx, nil)
	tr.must(err)
	tr.add(3, items...)
	if got := urlsOf(tr.lease("w", "a", 9).Items); !slices.Equal(got, []string{items[2].URL, items[1].URL, items[0].URL}) {
		t.Errorf("in the next run: %v", got)
	}
}

// testRevive checks that Revive makes URLs of an earlier run pending if they
// are done, or if they are excluded and have a capture.
func testRevive(t *testing.T, e Engine) {
	tr := newTrial(t, e)
	tr.add(3, url("a", 1), url("a", 2), url("a", 3))
	rs := doneResults(url("a", 1), url("a", 2), url("a", 3))
	rs[0].Capture, rs[1].Capture = newCapture(url("a", 1), 1), newCapture(url("a", 2), 2)
	rs[1].State, rs[2].State = frontier.Excluded, frontier.Excluded
	tr.must(tr.Complete(tr.ctx, tr.lease("w", "a", 9), rs, nil))
	if n, err := tr.Revive(tr.ctx); n != 0 || err != nil {
		t.Errorf("in the same run: %d, %v", n, err)
	}
	tr.must(tr.End(tr.ctx))
	_, _, err := tr.Begin(tr.ctx, nil)
	tr.must(err)
	if n, err := tr.Revive(tr.ctx); n != 2 || err != nil {
		t.Errorf("revived %d, %v; want 2", n, err)
	}
	tr.want(frontier.Pending, "http://a/1", "http://a/2")
	tr.want(frontier.Excluded, "http://a/3")
}

// wantMeta checks that Metas returns want for the item with the key k, and
// nothing for an unknown key.
func (tr *trial) wantMeta(k frontier.Key, want string) {
	tr.Helper()
	got, err := tr.Metas(tr.ctx, []frontier.Key{frontier.KeyOf("unknown"), k})
	if len(got) != 1 || string(got[k]) != want || err != nil {
		tr.Errorf("Metas returned %q, %v, want %q", got, err, want)
	}
}
