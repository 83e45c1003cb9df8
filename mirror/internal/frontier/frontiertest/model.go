package frontiertest

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// A model is a simple in-memory implementation of a frontier. Tests compare the
// tested engine with it.
type model struct {
	now      func() time.Time
	run      int64
	live     bool
	items    []*modelItem // in the order in which they were added
	hosts    map[string]*modelHost
	captures []frontier.Capture
	names    map[string]frontier.Key
	ends     map[string]int64
	counts   frontier.Counts
	errors   map[string]int64
	limit    int64
	dropped  int64
}

type modelItem struct {
	frontier.Item
	state     frontier.State
	run       int64
	postponed bool
}

type modelHost struct {
	next, until time.Time
	epoch       int64
	leased      bool
	control     frontier.HostControl
	objects     int64
}

func newModel(now func() time.Time) *model {
	return &model{now: now, hosts: map[string]*modelHost{}, names: map[string]frontier.Key{}, ends: map[string]int64{}}
}

func (m *model) begin() (run int64, fresh bool) {
	if fresh = !m.live; fresh {
		m.run++
		m.counts, m.errors = frontier.Counts{}, nil
		m.live = true
	}
	for _, i := range m.items {
		i.postponed = false
	}
	return m.run, fresh
}

func (m *model) find(k frontier.Key) *modelItem {
	i := slices.IndexFunc(m.items, func(i *modelItem) bool { return i.Key == k })
	if i < 0 {
		return nil
	}
	return m.items[i]
}

func (m *model) host(name string) *modelHost {
	if m.hosts[name] == nil {
		m.hosts[name] = new(modelHost)
	}
	return m.hosts[name]
}

// lacks reports whether no item belongs to host.
func (m *model) lacks(host string) bool {
	return !slices.ContainsFunc(m.items, func(i *modelItem) bool { return i.Host == host })
}

func (m *model) add(items []frontier.Item) (added int) {
	for _, item := range items {
		have := m.find(item.Key)
		switch {
		case have == nil && !item.Via.IsZero() && m.isFull(item.Host):
			m.dropped++
			continue
		case have == nil:
			m.items = append(m.items, &modelItem{Item: item, run: m.run})
			m.host(item.Host)
		case have.run == m.run || have.state == frontier.Kept:
			continue
		default:
			if have.state == frontier.Pending || have.state == frontier.Dead {
				item.Priority = max(item.Priority, have.Priority)
			}
			have.pend(m.run)
			have.Depth, have.Priority, have.Meta, have.NotBefore = item.Depth, item.Priority, item.Meta, item.NotBefore
		}
		added++
	}
	return added
}

// postponedOnly reports whether all pending items of host are postponed.
func (m *model) postponedOnly(host string) bool {
	return !slices.ContainsFunc(m.items, func(i *modelItem) bool {
		return i.Host == host && i.state == frontier.Pending && !i.postponed
	})
}

// isFull reports whether host has reached the limit of pending items.
func (m *model) isFull(host string) bool {
	pending := int64(0)
	for _, i := range m.items {
		if i.Host == host && i.state == frontier.Pending {
			pending++
		}
	}
	return m.limit > 0 && pending >= m.limit
}

func (i *modelItem) pend(run int64) {
	i.postponed = false
	i.state, i.run, i.Attempts, i.Note, i.NotBefore = frontier.Pending, run, 0, "", time.Time{}
}

// requeue makes all matching items pending. It returns the number of the items.
func (m *model) requeue(match func(*modelItem) bool) (n int64) {
	for _, i := range m.items {
		if match(i) {
			i.pend(m.run)
			n++
		}
	}
	return n
}

// ready returns the items of host that Claim may return now, in order.
func (m *model) ready(host string) (items []*modelItem) {
	for _, i := range m.items {
		if i.Host == host && i.state == frontier.Pending && !i.postponed && !i.NotBefore.After(m.now()) {
			items = append(items, i)
		}
	}
	slices.SortStableFunc(items, func(a, b *modelItem) int { return cmp.Compare(a.Priority, b.Priority) })
	return items
}

// claimable reports whether Claim may return a lease for host.
func (m *model) claimable(host string) bool {
	h := m.host(host)
	return !(h.leased && h.until.After(m.now())) && !h.control.Paused && !h.next.After(m.now()) && len(m.ready(host)) > 0
}

func (m *model) claim(host string, ttl time.Duration) (epoch int64) {
	h := m.host(host)
	h.epoch++
	h.leased, h.until = true, m.now().Add(ttl)
	return h.epoch
}

// isCurrent reports whether l is the current lease of its host.
func (m *model) isCurrent(l *frontier.Lease) bool {
	h := m.host(l.Host)
	return h.leased && h.epoch == l.Epoch
}

func (m *model) more(l *frontier.Lease, n int) (items []*modelItem) {
	h := m.host(l.Host)
	if h.control.Paused || h.next.After(m.now()) || !h.until.After(m.now()) {
		return nil
	}
	for _, i := range m.ready(l.Host) {
		if _, out := l.Outstanding[i.Key]; !out && len(items) < n {
			items = append(items, i)
		}
	}
	return items
}

// complete records results and the end offsets of WARC files. It reports
// whether all arguments are valid.
func (m *model) complete(rs []frontier.Result, ends map[string]int64) bool {
	claimed := map[string]frontier.Key{}
	for _, r := range rs {
		for _, n := range r.Names {
			has, ok := m.names[n.Fold]
			if !ok {
				has, ok = claimed[n.Fold]
			}
			if ok && has != n.Key {
				return false
			}
			claimed[n.Fold] = n.Key
		}
	}
	for fold, k := range claimed {
		m.names[fold] = k
	}
	for _, r := range rs {
		m.result(r)
		m.counts.Files += r.Counts.Files
		m.counts.Bytes += r.Counts.Bytes
		m.host(r.Item.Host).objects += r.Objects
		if r.Error != "" {
			if m.errors == nil {
				m.errors = map[string]int64{}
			}
			m.errors[r.Error]++
		}
	}
	for _, r := range rs {
		m.add(r.Children)
	}
	for file, end := range ends {
		m.ends[file] = max(m.ends[file], end)
	}
	return true
}

func (m *model) result(r frontier.Result) {
	i := m.find(r.Item.Key)
	if i == nil {
		i = &modelItem{Item: r.Item, run: m.run}
		m.items = append(m.items, i)
	}
	if i.run != m.run {
		i.Attempts = 0
	}
	i.state, i.run, i.Note, i.NotBefore, i.postponed = r.State, m.run, r.Note, time.Time{}, false
	if r.State == frontier.Pending {
		if i.postponed = r.Postpone; !r.Postpone {
			i.NotBefore = r.Retry
		}
		i.Attempts++
	}
	if r.Defer {
		i.Priority++
	}
	if r.Capture != nil {
		m.captures = append(m.captures, *r.Capture)
		i.LastCapture = r.Capture
	}
}

func (m *model) release(l *frontier.Lease, next time.Time) {
	h := m.host(l.Host)
	h.leased = false
	m.block(l.Host, next)
}

func (m *model) block(host string, until time.Time) {
	if h := m.host(host); until.After(h.next) {
		h.next = until
	}
}

// exclude excludes a host and its pending items. It returns the number of these
// items.
func (m *model) exclude(host string) (n int64) {
	c := &m.host(host).control
	if c.Excluded {
		return 0
	}
	c.Excluded = true
	for _, i := range m.items {
		if i.Host == host && i.state == frontier.Pending {
			i.state, i.run, i.Note, i.NotBefore, i.postponed = frontier.Excluded, m.run, frontier.NoteExcludedHost, time.Time{}, false
			n++
		}
	}
	return n
}

func (m *model) stats() frontier.Stats {
	st := frontier.Stats{
		Run: m.run, Dropped: m.dropped, URLs: int64(len(m.items)), Captures: int64(len(m.captures)),
		States: map[frontier.State]int64{}, Errors: maps.Clone(m.errors),
	}
	for _, c := range m.captures {
		st.Bytes += c.Size
	}
	due, all := map[string]time.Time{}, map[string]bool{}
	for _, i := range m.items {
		if i.state != frontier.Pending {
			if i.run == m.run {
				st.States[i.state]++
			}
			continue
		}
		st.States[frontier.Pending]++
		if all[i.Host] = true; i.postponed {
			st.Postponed++
			continue
		}
		if at, ok := due[i.Host]; !ok || i.NotBefore.Before(at) {
			due[i.Host] = i.NotBefore
		}
	}
	st.Hosts = int64(len(all))
	for name := range all {
		h := m.host(name)
		if h.control.Paused {
			st.Paused++
		}
		if _, ok := due[name]; ok && !h.control.Paused || h.leased && h.until.After(m.now()) {
			st.Open++
		}
	}
	for name, at := range due {
		h := m.host(name)
		if h.leased {
			at = h.until
		}
		if at.Before(h.next) {
			at = h.next
		}
		if !h.control.Paused && at.After(m.now()) && (st.NextDue.IsZero() || at.Before(st.NextDue)) {
			st.NextDue = at
		}
	}
	return st
}
