package rules

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// memory is a Store in memory.
type memory struct {
	urls  map[frontier.Key]*URL
	hosts map[string]*Host
	full  bool
}

func (m *memory) FindURL(k frontier.Key) (*URL, error)           { return m.urls[k], nil }
func (m *memory) InsertURL(u *URL) error                         { m.urls[u.Key] = u; return nil }
func (m *memory) UpdateURL(*URL) error                           { return nil }
func (m *memory) InsertCapture(u *URL, _ *frontier.Result) error { u.Last = at(1); return nil }
func (m *memory) IsFull(*Host, int64) (bool, error)              { return m.full, nil }
func (m *memory) FindHost(name string) (*Host, error)            { return m.hosts[name], nil }
func (m *memory) IncludeHosts() error                            { return nil }
func (m *memory) FindDue(n int) (due []*Host, err error) {
	for _, name := range []string{"other", "h"} {
		if h := m.hosts[name]; h.Due.Valid && h.Due.Int64 <= now && len(due) < n {
			due = append(due, h)
		}
	}
	return due, nil
}
func (m *memory) WakeItems(hosts []*Host, n int) (ready []ReadyItem, err error) {
	for _, h := range hosts {
		h.Due = at(FarFuture)
		for i := range n {
			if h.Name == "h" {
				ready = append(ready, ReadyItem{Item: frontier.Item{Key: frontier.Key{byte(i)}}, ID: int64(i) + 1, HostID: h.ID})
			}
		}
	}
	return ready, nil
}
func (m *memory) RequeueAll(state frontier.State, earlier bool) ([]Requeued, error) {
	moved := []Requeued{{Host: 1, URLs: 2}}
	if !earlier {
		moved = append(moved, Requeued{Host: 1, Current: true, URLs: 3})
	}
	return moved, nil
}
func (m *memory) HostOf(id int64) (*Host, error) {
	for _, h := range m.hosts {
		if h.ID == id {
			return h, nil
		}
	}
	return nil, errors.New("no host")
}

// newTransaction returns a transaction of run 3 and its host h. If u is not nil,
// it is the URL of testItem.
func newTransaction(u *URL) (*Transaction, *Host) {
	h := &Host{ID: 1, Name: "h", Now: now}
	m := &memory{urls: map[frontier.Key]*URL{}, hosts: map[string]*Host{"h": h, "other": {ID: 2, Name: "other", Now: now}}}
	if u != nil {
		copied := *u
		copied.Key, copied.Host = testItem.Key, max(u.Host, 1)
		m.urls[copied.Key] = &copied
	}
	return &Transaction{Store: m, Now: now, Run: 3, Live: true, Limit: 9, Seen: new(SeenKeys)}, h
}

var (
	testItem = frontier.Item{Key: frontier.KeyOf("u"), URL: "u", Host: "h", Via: frontier.Key{9}, Depth: 2, Priority: 5, Meta: []byte("m")}
	later    = time.UnixMicro(2000)
)

// tallyOf returns the changes of the totals for a URL that leaves the state from
// and gets the state to. A negative state is none.
func tallyOf(from, to int) (a Tally) {
	if from >= 0 {
		a.States[from]--
	}
	if to >= 0 {
		a.States[to]++
	}
	return a
}

const (
	none    = -1
	pending = int(frontier.Pending)
	done    = int(frontier.Done)
	dead    = int(frontier.Dead)
)

func TestAdd(t *testing.T) {
	inserted, revived := tallyOf(none, pending), tallyOf(none, pending)
	inserted.URLs, revived.Before = 1, -1
	fresh := URL{State: frontier.Pending, Run: 3, Priority: 5, Depth: 2, Meta: testItem.Meta, SetMeta: true, Changed: true}
	with := func(change func(*URL)) *URL { u := fresh; change(&u); return &u }
	tests := []struct {
		name  string
		old   *URL
		item  func(*frontier.Item) // change of testItem, or nil
		full  bool
		want  *URL // nil if the URL stays the same
		tally Tally
		due   bool // if true, the host becomes due
		stale bool
	}{
		{name: "a new URL", want: &fresh, tally: inserted, due: true},
		{name: "a new URL that waits", item: func(i *frontier.Item) { i.NotBefore = later },
			want: with(func(u *URL) { u.Wait = at(2000) }), tally: inserted, due: true},
		{name: "a new URL whose wait has ended", item: func(i *frontier.Item) { i.NotBefore = time.UnixMicro(now) },
			want: &fresh, tally: inserted, due: true},
		{name: "a new link to a full host", full: true},
		{name: "a new seed of a full host", full: true, item: func(i *frontier.Item) { i.Via = frontier.Key{} },
			want: &fresh, tally: inserted, due: true},
		{name: "a URL of this run", old: &URL{Run: 3, State: frontier.Done}},
		{name: "an immutable URL", old: &URL{Run: 2, State: frontier.Kept}},
		{name: "a URL of an earlier run", old: &URL{Run: 2, State: frontier.Done, Priority: 7, Depth: 4, Attempts: 2, Note: "n"},
			want: &fresh, tally: revived, due: true},
		{name: "a URL of an earlier run, on a full host", full: true, old: &URL{Run: 2, State: frontier.Done},
			want: &fresh, tally: revived, due: true},
		{name: "a failed URL keeps a higher priority", old: &URL{Run: 2, State: frontier.Dead, Priority: 7},
			want: with(func(u *URL) { u.Priority = 7 }), tally: tallyOf(none, pending), due: true},
		{name: "a pending URL of an earlier run", old: &URL{Run: 2, State: frontier.Pending, Wait: at(9000), Priority: 1},
			want: &fresh, stale: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tx, h := newTransaction(test.old)
			tx.Store.(*memory).full = test.full
			item := testItem
			if test.item != nil {
				test.item(&item)
			}
			added, err := tx.Add([]frontier.Item{item})
			if err != nil || added == 1 != (test.want != nil) {
				t.Errorf("added %d, %v", added, err)
			}
			checkURL(t, tx, test.old, test.want)
			if tx.Tally != test.tally || h.Due.Valid != test.due || h.Stale != test.stale {
				t.Errorf("got %+v, due %v, stale %t", tx.Tally, h.Due, h.Stale)
			}
			if dropped := test.full && test.want == nil; tx.Dropped == 1 != dropped || len(tx.NewKeys) == 1 == dropped {
				t.Errorf("dropped %d, %d new keys", tx.Dropped, len(tx.NewKeys))
			}
		})
	}
}

// checkURL checks the row of testItem. If want is nil, the row must be old.
func checkURL(t *testing.T, tx *Transaction, old, want *URL) {
	t.Helper()
	got := tx.Store.(*memory).urls[testItem.Key]
	if want == nil {
		want = old
	}
	if got == nil || want == nil {
		if got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		return
	}
	g, w := *got, *want
	g.Item, w.Key, w.Host = nil, testItem.Key, max(w.Host, 1)
	if !reflect.DeepEqual(g, w) {
		t.Errorf("got  %+v\nwant %+v", g, w)
	}
}

func TestComplete(t *testing.T) {
	inserted, captured := tallyOf(none, done), tallyOf(pending, done)
	inserted.URLs, captured.Captures, captured.Bytes = 1, 1, 10
	tests := []struct {
		name   string
		old    *URL
		result frontier.Result
		want   URL
		tally  Tally
	}{
		{"retrieved", &URL{Run: 3, Attempts: 2, Priority: 5},
			frontier.Result{State: frontier.Done, Capture: &frontier.Capture{Size: 10}},
			URL{State: frontier.Done, Attempts: 2, Priority: 5, Last: at(1)}, captured},
		{"failed", &URL{Run: 3, Priority: 5}, frontier.Result{State: frontier.Dead, Note: "dns"},
			URL{State: frontier.Dead, Priority: 5, Note: "dns"}, tallyOf(pending, dead)},
		{"again later", &URL{Run: 3, Attempts: 2, Note: "old"}, frontier.Result{Retry: later, Defer: true},
			URL{Attempts: 3, Wait: at(2000), Priority: 1}, Tally{}},
		{"again now", &URL{Run: 3}, frontier.Result{Retry: time.UnixMicro(now)}, URL{Attempts: 1}, Tally{}},
		{"postponed", &URL{Run: 3}, frontier.Result{Retry: later, Postpone: true}, URL{Attempts: 1, Wait: at(FarFuture)}, Tally{}},
		{"a postponed result that is not pending", &URL{Run: 3}, frontier.Result{State: frontier.Done, Postpone: true},
			URL{State: frontier.Done}, tallyOf(pending, done)},
		{"attempts of an earlier run", &URL{Run: 2, Attempts: 7}, frontier.Result{}, URL{Attempts: 1}, Tally{}},
		{"new metadata", &URL{Run: 3}, frontier.Result{State: frontier.Done, Meta: []byte("n")},
			URL{State: frontier.Done, Meta: []byte("n"), SetMeta: true}, tallyOf(pending, done)},
		{"done in this run, but failed now", &URL{Run: 3, State: frontier.Done}, frontier.Result{State: frontier.Dead},
			URL{State: frontier.Dead}, tallyOf(done, dead)},
		{"done in an earlier run", &URL{Run: 2, State: frontier.Done}, frontier.Result{State: frontier.Done},
			URL{State: frontier.Done}, Tally{States: [NumStates]int64{frontier.Done: 1}, Before: -1}},
		{"a URL that only a listing names", nil, frontier.Result{State: frontier.Done},
			URL{State: frontier.Done, Depth: 2, Priority: 5, Meta: testItem.Meta, SetMeta: true}, inserted},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tx, h := newTransaction(test.old)
			test.result.Item = testItem
			if err := tx.Complete(h, []frontier.Result{test.result}); err != nil {
				t.Fatal(err)
			}
			test.want.Run, test.want.Visited, test.want.Changed = 3, true, true
			checkURL(t, tx, nil, &test.want)
			if tx.Tally != test.tally || h.Due.Valid != (test.want.State == frontier.Pending) {
				t.Errorf("got %+v, due %v; want %+v", tx.Tally, h.Due, test.tally)
			}
		})
	}
}

// TestCompleteErrors checks the arguments that Complete rejects.
func TestCompleteErrors(t *testing.T) {
	other, noURL := testItem, testItem
	other.Host, noURL.URL = "other", ""
	for _, test := range []struct {
		name string
		old  *URL
		item frontier.Item
		live bool
	}{
		{"no run", &URL{}, testItem, false},
		{"a new URL of another host", nil, other, true},
		{"a known URL of another host", &URL{Host: 2}, testItem, true},
		{"a new URL without a text", nil, noURL, true},
	} {
		tx, h := newTransaction(test.old)
		tx.Live = test.live
		if err := tx.Complete(h, []frontier.Result{{Item: test.item}}); err == nil || errors.Is(err, frontier.ErrNoRun) == test.live {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestCompleteForeign checks that a page of the leased host can complete an item
// of another host, which is counted for its own host.
func TestCompleteForeign(t *testing.T) {
	item := testItem
	item.Host = "other"
	tx, h := newTransaction(nil)
	if err := tx.Complete(h, []frontier.Result{{Item: item, State: frontier.Done, Foreign: true}}); err != nil {
		t.Fatal(err)
	}
	if tx.Tally.URLs != 1 || tx.Tally.States[frontier.Done] != 1 {
		t.Errorf("%+v", tx.Tally)
	}
}

func TestRequeueItems(t *testing.T) {
	for _, test := range []struct {
		state frontier.State
		want  int64
	}{
		{frontier.Pending, 0}, {frontier.Gone, 0}, {frontier.Done, 1}, {frontier.Kept, 1}, {frontier.Dead, 1}, {frontier.Excluded, 1},
	} {
		old := &URL{Run: 3, State: test.state, Attempts: 4, Note: "n", Priority: 6}
		tx, h := newTransaction(old)
		n, err := tx.RequeueItems([]frontier.Key{testItem.Key, {1}})
		if n != test.want || err != nil {
			t.Errorf("%v: %d, %v", test.state, n, err)
		}
		var tally Tally
		want := old
		if test.want == 1 {
			want, tally = &URL{Run: 3, Priority: 6, Changed: true}, tallyOf(int(test.state), pending)
		}
		checkURL(t, tx, nil, want)
		if tx.Tally != tally || h.Due.Valid != (test.want == 1) || h.Pending != test.want {
			t.Errorf("%v: got %+v and %+v", test.state, tx.Tally, h)
		}
	}
}

// TestRequeue checks the totals after Requeue and Revive.
func TestRequeue(t *testing.T) {
	pending := func(n int64) (a Tally) { a.States[frontier.Pending] = n; return a }
	both, revived := pending(10), pending(4)
	both.States[frontier.Done], both.States[frontier.Excluded], both.Before = -3, -3, -2
	revived.Before = -2
	for _, test := range []struct {
		name   string
		change func(*Transaction) (int64, error)
		n      int64
		tally  Tally
	}{
		{"requeue", func(t *Transaction) (int64, error) {
			return t.Requeue([]frontier.State{frontier.Done, frontier.Pending, frontier.Excluded, 9})
		}, 10, both},
		{"revive", (*Transaction).Revive, 4, revived},
		{"revive in the first run", func(t *Transaction) (int64, error) { t.Run = 1; return t.Revive() }, 0, Tally{}},
	} {
		tx, _ := newTransaction(nil)
		if n, err := test.change(tx); n != test.n || err != nil || tx.Tally != test.tally {
			t.Errorf("%s: %d, %v, %+v; want %d, %+v", test.name, n, err, tx.Tally, test.n, test.tally)
		}
	}
	tx, _ := newTransaction(nil)
	tx.Live = false
	if _, err := tx.Revive(); !errors.Is(err, frontier.ErrNoRun) {
		t.Errorf("Revive without a run: %v", err)
	}
}

// TestClaim checks that Claim leases hosts with ready items, and looks for more
// hosts in place of those without.
func TestClaim(t *testing.T) {
	tx, h := newTransaction(nil)
	other := tx.Store.(*memory).hosts["other"]
	h.Due, h.Objects, h.Epoch, other.Due = at(9), 7, 4, at(5)
	ls, err := tx.Claim("w", 1, 3, time.Millisecond)
	if err != nil || len(ls) != 1 || other.Epoch != 0 {
		t.Fatalf("%v, %v", ls, err)
	}
	l := ls[0]
	if l.Host != "h" || l.Epoch != 5 || l.Objects != 7 || len(l.Items) != 3 || len(l.Outstanding) != 3 || !l.Until.Equal(later) {
		t.Errorf("got %+v", l)
	}
	if i := l.Items[2]; i.Host != "h" || l.Outstanding[i.Key] != 3 {
		t.Errorf("got the item %+v with the row %d", i, l.Outstanding[i.Key])
	}
	tx.Live = false
	if _, err := tx.Claim("w", 1, 1, time.Second); !errors.Is(err, frontier.ErrNoRun) {
		t.Errorf("without a run: %v", err)
	}
}

func TestTally(t *testing.T) {
	a := Tally{States: [NumStates]int64{5, 4, 3, 2, 1, 0}, Before: 10, URLs: 25, Captures: 8, Bytes: 80}
	var st frontier.Stats
	a.Report(&st)
	states := map[frontier.State]int64{frontier.Pending: 5, frontier.Done: 4, frontier.Kept: 3, frontier.Gone: 2, frontier.Dead: 1}
	if !reflect.DeepEqual(st, frontier.Stats{States: states, URLs: 25, Captures: 8, Bytes: 80}) {
		t.Errorf("Report: %+v", st)
	}
	a.moveAll(2, frontier.Pending, true, frontier.Excluded)
	a.StartRun()
	if want := (Tally{States: [NumStates]int64{3}, Before: 14, URLs: 25, Captures: 8, Bytes: 80}); a != want {
		t.Errorf("StartRun: %+v, want %+v", a, want)
	}
	if n := len(a.Fields()); n != NumStates+4 {
		t.Errorf("%d fields", n)
	}
}

// TestCounters checks what results add to the counters of a run.
func TestCounters(t *testing.T) {
	changes, objects := Counters([]frontier.Result{
		{Counts: frontier.Counts{Files: 1, Bytes: 7}, Objects: 2}, {Error: "dns"}, {Error: "dns", Objects: -1}, {},
	})
	want := map[string]int64{FilesCounter: 1, BytesCounter: 7, ErrorCounter + "dns": 2}
	if objects != 1 || !reflect.DeepEqual(changes, want) {
		t.Errorf("got %v, %d objects; want %v", changes, objects, want)
	}
}
