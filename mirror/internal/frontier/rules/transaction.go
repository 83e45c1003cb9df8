package rules

import (
	"database/sql"
	"fmt"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// A Store reads and writes the rows that a Transaction changes. An engine
// implements it with SQL statements.
type Store interface {
	// FindURL returns the URL with the key k, or nil. The result contains the
	// changes of this transaction.
	FindURL(k frontier.Key) (*URL, error)

	// InsertURL inserts u. The engine may set u.ID later.
	InsertURL(u *URL) error

	// UpdateURL writes u.
	UpdateURL(u *URL) error

	// InsertCapture inserts the capture of a result for u and sets u.Last. The
	// engine may set u.Last later.
	InsertCapture(u *URL, r *frontier.Result) error

	// FindHost returns the host with the given name. It inserts the host if
	// necessary.
	FindHost(name string) (*Host, error)

	// HostOf returns the host with the given row number.
	HostOf(id int64) (*Host, error)

	// FindDue returns up to n hosts that can be claimed. The host that has been
	// due for the longest time is first.
	FindDue(n int) ([]*Host, error)

	// WakeItems makes the items of hosts ready whose waiting time has passed. It
	// returns up to n ready items of each host in their order. It makes hosts
	// without a ready item due later, or not at all.
	WakeItems(hosts []*Host, n int) ([]ReadyItem, error)

	// RequeueAll makes the URLs with the given state pending and ready, and makes
	// their hosts due. If earlier is true, it ignores URLs of the newest run, and
	// excluded URLs without a capture. It returns the number of URLs by host.
	RequeueAll(state frontier.State, earlier bool) ([]Requeued, error)

	// IncludeHosts ends the exclusion of all hosts.
	IncludeHosts() error

	// IsFull reports whether a host has at least limit pending URLs.
	IsFull(h *Host, limit int64) (bool, error)
}

// A Transaction applies the rules to the rows of a Store. The engine writes
// Tally and the changed hosts at its end.
type Transaction struct {
	Store   Store
	Now     int64 // time of the transaction, in microseconds
	Run     int64 // newest run
	Live    bool  // if true, the run is active
	Tally   Tally // totals, or changes of the totals
	Limit   int64 // maximum number of pending URLs of a host; 0 means no limit
	Dropped int64 // number of URLs that exceeded Limit
	Seen    *SeenKeys
	NewKeys []frontier.Key // keys to add to Seen after the commit
}

// Add adds items to the active run. It returns the number of items that became
// pending.
func (t *Transaction) Add(items []frontier.Item) (added int, err error) {
	if !t.Live {
		return 0, frontier.ErrNoRun
	}
	for i := range items {
		is, err := t.addItem(&items[i])
		if err != nil {
			return 0, err
		}
		if is {
			added++
		}
	}
	return added, nil
}

func (t *Transaction) addItem(item *frontier.Item) (added bool, err error) {
	if t.Seen.Contains(t.Run, item.Key) {
		return false, nil
	}
	if err := checkItem(item); err != nil {
		return false, err
	}
	u, err := t.Store.FindURL(item.Key)
	if err != nil {
		return false, err
	}
	if u == nil {
		return t.addNew(item)
	}
	t.NewKeys = append(t.NewKeys, item.Key)
	if !u.Readd(t.Run) {
		return false, nil
	}
	h, err := t.Store.HostOf(u.Host)
	if err != nil {
		return false, err
	}
	wait := WaitOf(item.NotBefore, t.Now)
	was := u.State
	t.count(u, h, frontier.Pending)
	u.setPending(item, t.Run, wait)
	if was == frontier.Pending {
		h.Stale = true // this URL may have determined the time at which the host is due
	} else {
		h.SetReady(wait)
	}
	return true, t.Store.UpdateURL(u)
}

// addNew adds an item that the database does not contain. It drops the item if
// the host has reached the limit of pending URLs. The limit does not apply to
// seeds, which have no Via.
func (t *Transaction) addNew(item *frontier.Item) (added bool, err error) {
	h, err := t.Store.FindHost(item.Host)
	if err != nil {
		return false, err
	}
	if t.Limit > 0 && !item.Via.IsZero() {
		full, err := t.Store.IsFull(h, t.Limit)
		if err != nil {
			return false, err
		}
		if full {
			t.Dropped++
			return false, nil
		}
	}
	t.NewKeys = append(t.NewKeys, item.Key)
	wait := WaitOf(item.NotBefore, t.Now)
	h.SetReady(wait)
	_, err = t.Create(item, h, frontier.Pending, wait)
	return err == nil, err
}

// Create inserts and counts the URL of an item that the database does not
// contain.
func (t *Transaction) Create(item *frontier.Item, h *Host, state frontier.State, wait sql.NullInt64) (*URL, error) {
	if err := checkItem(item); err != nil {
		return nil, err
	}
	t.Tally.URLs++
	t.Tally.States[state]++
	h.addPending(state, 1)
	u := &URL{
		Key: item.Key, State: state, Run: t.Run, Host: h.ID, Priority: item.Priority, Depth: item.Depth, Wait: wait,
		Meta: item.Meta, SetMeta: true, Item: item, Changed: true,
	}
	return u, t.Store.InsertURL(u)
}

// count counts a URL whose state changes.
func (t *Transaction) count(u *URL, h *Host, to frontier.State) {
	h.addPending(u.State, -1)
	h.addPending(to, 1)
	t.Tally.Move(u, t.Run, to)
}

// Complete records results for the leased host h, and adds their links.
func (t *Transaction) Complete(h *Host, rs []frontier.Result) error {
	if !t.Live {
		return frontier.ErrNoRun
	}
	for i := range rs {
		if err := t.complete(h, &rs[i]); err != nil {
			return err
		}
	}
	for i := range rs {
		if _, err := t.Add(rs[i].Children); err != nil {
			return err
		}
	}
	return nil
}

// complete records a result without its links.
func (t *Transaction) complete(h *Host, r *frontier.Result) error {
	u, err := t.Store.FindURL(r.Item.Key)
	switch {
	case err != nil:
	case (u == nil && r.Item.Host != h.Name || u != nil && u.Host != h.ID) && r.Foreign:
		return t.completeForeign(u, r)
	case u == nil && r.Item.Host != h.Name || u != nil && u.Host != h.ID:
		err = fmt.Errorf("frontier: %s is not a URL of the leased host", r.Item.URL)
	case u == nil:
		u, err = t.Create(&r.Item, h, r.State, sql.NullInt64{})
	default:
		t.count(u, h, r.State)
	}
	if err != nil {
		return err
	}
	u.setResult(r, t.Run, t.Now)
	if r.Capture != nil {
		t.Tally.Captures++
		t.Tally.Bytes += r.Capture.Size
		if err := t.Store.InsertCapture(u, r); err != nil {
			return err
		}
	}
	if r.State == frontier.Pending {
		h.SetReady(u.Wait)
	}
	return t.Store.UpdateURL(u)
}

// completeForeign records a result for the URL u of another host than the leased
// one. The parameter u is nil if the database does not contain the URL.
func (t *Transaction) completeForeign(u *URL, r *frontier.Result) error {
	var h *Host
	var err error
	if u == nil {
		h, err = t.Store.FindHost(r.Item.Host)
	} else {
		h, err = t.Store.HostOf(u.Host)
	}
	if err != nil {
		return err
	}
	own := *r
	own.Item.Host, own.Foreign = h.Name, false
	return t.complete(h, &own)
}

// RequeueItems makes the URLs with the given keys pending and returns their
// number. It ignores unknown, pending and deleted URLs.
func (t *Transaction) RequeueItems(keys []frontier.Key) (n int64, err error) {
	for _, k := range keys {
		u, err := t.Store.FindURL(k)
		if err != nil {
			return 0, err
		}
		if u == nil || u.State == frontier.Pending || u.State == frontier.Gone {
			continue
		}
		h, err := t.Store.HostOf(u.Host)
		if err != nil {
			return 0, err
		}
		t.count(u, h, frontier.Pending)
		u.requeue(t.Run)
		h.SetReady(sql.NullInt64{})
		if err := t.Store.UpdateURL(u); err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// A Requeued is a number of URLs that RequeueAll has made pending.
type Requeued struct {
	Host    int64
	Current bool // if true, the newest run had visited the URLs
	URLs    int64
}

// Requeue makes all URLs with the given states pending and returns their number.
func (t *Transaction) Requeue(states []frontier.State) (n int64, err error) {
	for _, state := range states {
		if state == frontier.Pending || int(state) >= NumStates {
			continue
		}
		moved, err := t.requeueAll(state, false)
		if err == nil && state == frontier.Excluded {
			err = t.Store.IncludeHosts()
		}
		if n += moved; err != nil {
			return 0, err
		}
	}
	return n, nil
}

// Revive makes the URLs of earlier runs pending that have the state Done, or the
// state Excluded and a capture. It returns their number.
func (t *Transaction) Revive() (n int64, err error) {
	if !t.Live {
		return 0, frontier.ErrNoRun
	}
	if t.Run == 1 { // the first run has no URLs of earlier runs
		return 0, nil
	}
	for _, state := range []frontier.State{frontier.Done, frontier.Excluded} {
		moved, err := t.requeueAll(state, true)
		if n += moved; err != nil {
			return 0, err
		}
	}
	return n, nil
}

func (t *Transaction) requeueAll(state frontier.State, earlier bool) (n int64, err error) {
	moved, err := t.Store.RequeueAll(state, earlier)
	for _, m := range moved {
		n += m.URLs
		t.Tally.moveAll(m.URLs, state, m.Current, frontier.Pending)
	}
	return n, err
}

// Exclude counts n pending URLs of a host that become excluded.
func (t *Transaction) Exclude(n int64) {
	t.Tally.moveAll(n, frontier.Pending, true, frontier.Excluded)
}

// Remember updates the cache of keys after the commit.
func (t *Transaction) Remember() { t.Seen.Remember(t.Run, t.NewKeys) }
