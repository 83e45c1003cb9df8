package postgres

import (
	"cmp"
	"database/sql"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

// A lock is the strength of a row lock on a host. PostgreSQL permits an addLock
// together with a changeLock, and several locks of the strengths addLock and
// shareLock. It permits no other combination.
//
// A transaction with a changeLock must not make the host due later, unless it
// leases the host: another transaction with an addLock can add a ready URL at the
// same time, and expects that Claim considers the host at the earlier time.
type lock uint8

const (
	noLock     lock = iota // permits no change: the host was only read
	addLock                // permits adding URLs that do not change the row of the host
	shareLock              // permits changes of URLs; no other transaction can start or end a lease
	changeLock             // permits all changes that do not make the host due later
	fullLock               // permits all changes
)

// lockClauses contains the SQL locking clause of each lock.
var lockClauses = [...]string{
	noLock: "", addLock: " for key share", shareLock: " for share", changeLock: " for no key update", fullLock: " for update",
}

// host is a row of the table host.
type host struct {
	rules.Host
	lock    lock
	counted bool  // if true, Pending is the number of pending URLs, not only the change by this transaction
	added   int64 // number of new URLs for which IsFull returned false
}

const selectHosts = "select id, name, next, due, epoch, until, held, delay, crawl, excluded from host "

// queueHosts queues a query that locks hosts and stores them in s. The
// parameter where contains the condition and the order of the rows.
func (t *tx) queueHosts(b *pgx.Batch, s hostSet, with lock, where string, args ...any) *[]*host {
	return queueRows(b, t.scanHosts(s, with), selectHosts+where+lockClauses[with], args...)
}

// scanHosts returns a function that reads hosts from the columns of selectHosts
// and stores them in s.
func (t *tx) scanHosts(s hostSet, with lock) pgx.RowToFunc[*host] {
	return func(r pgx.CollectableRow) (*host, error) {
		h := &host{Host: rules.Host{Now: t.Now, MinDelay: t.minDelay()}, lock: with}
		err := r.Scan(&h.ID, &h.Name, &h.Next, &h.Due, &h.Epoch, &h.Until, &h.Held, &h.Delay, &h.CrawlDelay, &h.Excluded)
		s.names[h.Name], s.ids[h.ID] = h, h
		return h, err
	}
}

// minDelay returns the minimum time between two requests to a host without
// settings.
func (t *tx) minDelay() int64 { return t.e.worker.Pause.Microseconds() }

// A hostSet contains hosts by name and by row number.
type hostSet struct {
	names map[string]*host
	ids   map[int64]*host
}

func newHostSet() hostSet { return hostSet{map[string]*host{}, map[int64]*host{}} }

// FindHost implements rules.Store. The host is missing if another worker has
// changed a row since demandsOf.
func (t *tx) FindHost(name string) (*rules.Host, error) {
	if h := t.hosts.names[name]; h != nil {
		return &h.Host, nil
	}
	return nil, errRetry
}

// HostOf implements rules.Store.
func (t *tx) HostOf(id int64) (*rules.Host, error) {
	if h := t.hosts.ids[id]; h != nil {
		return &h.Host, nil
	}
	return nil, errRetry
}

// IsFull implements rules.Store. The result is exact if at most
// countShare/2 workers run.
func (t *tx) IsFull(of *rules.Host, limit int64) (bool, error) {
	h := t.hosts.ids[of.ID]
	switch {
	case h.counted:
	case t.e.pending.below(h.ID, limit):
		h.added++
		return false, nil
	default:
		h.counted = true
		var stored int64
		err := t.QueryRow(t.ctx, "select count(*) from (select from url where host = $1 and state = 0 limit $2) u",
			h.ID, limit+int64(len(t.urls))).Scan(&stored)
		if err != nil {
			return false, err
		}
		t.e.pending.set(h.ID, stored)
		h.Pending += stored // the database does not contain the changes of this transaction yet
	}
	if h.Pending >= limit {
		return true, nil
	}
	h.added++
	return false, nil
}

// A hostChange is a change for which the transaction must lock a host. The host
// is given by its name or its row number.
type hostChange struct {
	name  string
	id    int64
	wait  sql.NullInt64 // time at which a URL is ready
	share bool          // if true, the change needs a shareLock
	stale bool          // if true, the field Due must be computed again
}

func (s hostSet) of(c hostChange) *host {
	if c.id != 0 {
		return s.ids[c.id]
	}
	return s.names[c.name]
}

// lock returns the weakest lock of the host h that is sufficient for the change.
func (c hostChange) lock(h *host) lock {
	_, early := h.ReadyAt(c.wait)
	switch {
	case c.stale && !h.Leased():
		return fullLock
	case early:
		return changeLock
	case c.share:
		return shareLock
	}
	return addLock
}

// lockHosts queues statements that lock the hosts of all changes, in the order
// of their row numbers, so that two transactions cannot deadlock. It inserts
// missing hosts. A host whose row does not change gets an addLock, so that other
// workers can add URLs to it and lease it.
func (t *tx) lockHosts(b *pgx.Batch, changes []hostChange) error {
	if err := t.findHosts(changes); err != nil {
		return err
	}
	locks := map[int64]lock{}
	for _, c := range changes {
		h := t.known.of(c)
		if h == nil {
			return errRetry
		}
		locks[h.ID] = max(locks[h.ID], c.lock(h))
	}
	ids := slices.Sorted(maps.Keys(locks))
	for len(ids) > 0 { // one statement for consecutive hosts with the same lock
		n := 1
		for n < len(ids) && locks[ids[n]] == locks[ids[0]] {
			n++
		}
		t.queueHosts(b, t.hosts, locks[ids[0]], "where id = any($1) order by id", ids[:n])
		ids = ids[n:]
	}
	return nil
}

const hostsByName = "where name = any($1)"

// findHosts reads the hosts of the changes without locks, unless queueLoad has
// read them. It inserts missing hosts.
func (t *tx) findHosts(changes []hostChange) error {
	names := map[string]bool{}
	var ids []int64
	for _, c := range changes {
		switch {
		case t.known.of(c) != nil:
		case c.id != 0:
			ids = append(ids, c.id)
		default:
			names[c.name] = true
		}
	}
	var b pgx.Batch
	if len(names) > 0 {
		list := sortedKeys(names)
		b.Queue(`insert into host (name) select n from unnest($1::text[]) n
			where not exists (select from host where name = n) order by n on conflict do nothing`, list)
		t.queueHosts(&b, t.known, noLock, hostsByName, list)
	}
	if len(ids) > 0 {
		t.queueHosts(&b, t.known, noLock, "where id = any($1)", ids)
	}
	if b.Len() == 0 {
		return nil
	}
	return t.send(&b)
}

// hasReady is the SQL condition that a host h has a ready URL.
const hasReady = "exists (select from url where host = h.id and state = 0 and wait is null)"

// computeDue is the SQL expression of rules.Host.SetDue for a host h, and $1 is
// the current time. It is used for hosts that the transaction does not read.
const computeDue = "case when " + hasReady + ` then greatest(h.next, $1) else (select greatest(h.next, min(wait)) from url
	where host = h.id and state = 0 and wait is not null having min(wait) is not null) end`

// leased is the SQL condition of rules.Host.Leased, where $1 is the current time
// and $3 is tx.minDelay.
const leased = "coalesce(until + greatest(delay, crawl, $3::bigint) > $1, false)"

// computeDues computes the column due of hosts that are not leased.
func (t *tx) computeDues(ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	return t.exec("update host h set due = "+computeDue+" where id = any($2) and not "+leased, t.Now, ids, t.minDelay())
}

// settle queues statements that write all changed hosts.
func (t *tx) settle() error {
	b := &t.queued
	for _, h := range slices.SortedFunc(maps.Values(t.hosts.ids), func(a, b *host) int { return cmp.Compare(a.ID, b.ID) }) {
		stale := h.NeedsDue()
		switch {
		case !h.Changed && !stale:
			continue
		case h.lock < changeLock:
			return errRetry
		case !stale:
			h.queueUpdate(b, "$10::bigint", h.Due)
		default:
			h.queueUpdate(b, "case when "+hasReady+" then greatest($2, $10::bigint) end", t.Now)
			// If the host has no ready URL, it becomes due later or not at all.
			// This change needs a fullLock.
			if h.lock < fullLock {
				b.Queue("select from host where id = $1 and due is null for update", h.ID)
			}
			b.Queue("update host h set due = "+computeDue+" where id = $2 and due is null", t.Now, h.ID)
		}
		h.Changed, h.Stale = false, false
	}
	return nil
}

// queueUpdate queues a statement that writes the host. The parameter due is the
// SQL expression of the column due, and $10 is arg.
func (h *host) queueUpdate(b *pgx.Batch, due string, arg any) {
	b.Queue(`update host h set next = $2, epoch = $3, until = $4, held = $5, delay = $6, crawl = $7, excluded = $8,
		owner = coalesce(nullif($9, ''), owner), due = `+due+" where id = $1",
		h.ID, h.Next, h.Epoch, h.Until, h.Held, h.Delay, h.CrawlDelay, h.Excluded, h.Owner, arg)
}
