package rules

import (
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// A ReadyItem is an item that can be visited now.
type ReadyItem struct {
	frontier.Item
	ID     int64 // row number
	HostID int64 // row number
}

// Claim leases up to the given number of hosts with up to perHost items each. A
// host whose items must all wait gets no lease. It is then due later, and its
// previous lease remains valid.
func (t *Transaction) Claim(worker string, hosts, perHost int, ttl time.Duration) (ls []*frontier.Lease, err error) {
	if !t.Live {
		return nil, frontier.ErrNoRun
	}
	for len(ls) < hosts {
		due, err := t.Store.FindDue(hosts - len(ls))
		if err != nil || len(due) == 0 {
			return ls, err
		}
		ready, err := t.Store.WakeItems(due, max(perHost, 1))
		if err != nil {
			return nil, err
		}
		items := map[int64][]ReadyItem{}
		for _, r := range ready {
			items[r.HostID] = append(items[r.HostID], r)
		}
		for _, h := range due {
			if len(items[h.ID]) > 0 {
				l := h.lease(worker, ttl)
				l.Items = AddOutstanding(l, items[h.ID])
				ls = append(ls, l)
			}
		}
	}
	return ls, nil
}

// AddOutstanding adds claimed items to l.Outstanding and returns them.
func AddOutstanding(l *frontier.Lease, ready []ReadyItem) (items []frontier.Item) {
	for _, r := range ready {
		r.Host = l.Host
		items = append(items, r.Item)
		l.Outstanding[r.Key] = r.ID
	}
	return items
}
