package postgres

import (
	"cmp"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
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
	addLock    lock = iota // permits adding URLs that do not change the row of the host
	shareLock              // permits changes of URLs; no other transaction can start or end a lease
	changeLock             // permits all changes that do not make the host due later
	fullLock               // permits all changes
)

// lockClauses contains the SQL locking clause of each lock, without the word
// FOR.
var lockClauses = [...]string{addLock: "key share", shareLock: "share", changeLock: "no key update", fullLock: "update"}

// host is a row of the table host, locked until the end of the transaction.
type host struct {
	id      int64
	name    string
	next    int64
	epoch   int64
	due     pgtype.Int8
	until   pgtype.Int8
	pause   int64 // minimum time between the end of an expired lease and the next lease
	now     int64 // time of the transaction
	lock    lock
	changed bool
	stale   bool  // if true, due must be computed again
	pending int64 // number of pending URLs, or only the change by this transaction if counted is false
	counted bool
	added   int64 // number of new URLs for which hostFull returned false
}

const hostColumns = "select id, name, next, epoch, due, until, greatest(delay, crawl, 0) from host "

// pausedTime is the value in the column "next" of a paused host.
const pausedTime = 1 << 62

// SQL assignments in an update of a host h. The first one blocks the host until
// the time $2. The second one sets the column due of a host that is leased
// until the time $2. If no worker releases the lease, the host is due after its
// delay, which is at least $3.
const (
	blockHost = "next = greatest(next, $2), held = case when held is not null then greatest(held, $2) end"
	leasedDue = "due = greatest(next, $2::bigint + greatest(delay, crawl, $3::bigint))"
)

func (h *host) scan(r pgx.Row) error {
	return r.Scan(&h.id, &h.name, &h.next, &h.epoch, &h.due, &h.until, &h.pause)
}

// leased reports whether the host has a lease that has not expired, or that has
// expired less than the delay ago. The field due is then the end of the delay.
func (h *host) leased() bool { return h.until.Valid && h.until.Int64+h.pause > h.now }

// readyAt returns the time at which the host becomes due if one of its URLs is
// ready at the given time. The result early reports whether this changes the
// host. A host that is already due keeps its place among the due hosts.
func (h *host) readyAt(wait pgtype.Int8) (at int64, early bool) {
	at = max(h.next, wait.Int64)
	return at, !h.leased() && (!h.due.Valid || at < h.due.Int64 && h.due.Int64 > h.now)
}

// setReady makes the host due at the given time or earlier. Null means now. It
// returns errRetry if the lock of the host does not permit the change.
func (h *host) setReady(wait pgtype.Int8) error {
	at, early := h.readyAt(wait)
	if !early {
		return nil
	}
	h.due, h.changed = pgtype.Int8{Int64: at, Valid: true}, true
	return h.checkLock(changeLock)
}

// setStale makes settle compute the field due again, unless the host is leased.
func (h *host) setStale() error {
	if h.leased() {
		return nil
	}
	h.stale = true
	return h.checkLock(fullLock)
}

func (h *host) checkLock(need lock) error {
	if h.lock < need {
		return errRetry
	}
	return nil
}

// A demand describes a change for which the transaction must lock a host. The
// host is given by its name or its row number.
type demand struct {
	name  string
	id    int64
	wait  pgtype.Int8
	share bool // if true, the change needs a shareLock
	stale bool // if true, the field due must be computed again
}

// lock returns the weakest lock of the host h that is sufficient for the
// demand.
func (d demand) lock(h *host) lock {
	_, early := h.readyAt(d.wait)
	switch {
	case d.stale && !h.leased():
		return fullLock
	case early:
		return changeLock
	case d.share:
		return shareLock
	}
	return addLock
}

// lockHosts queues statements that lock the hosts of all demands, in the order
// of their row numbers, so that two transactions cannot deadlock. It inserts
// missing hosts. A host that the demands do not change gets an addLock, so that
// other workers can add URLs to it and lease it.
func (t *tx) lockHosts(b *pgx.Batch, demands []demand) error {
	found, err := t.findHosts(demands)
	if err != nil {
		return err
	}
	locks := map[int64]lock{}
	for _, d := range demands {
		h := found.of(d)
		if h == nil {
			return errRetry
		}
		locks[h.id] = max(locks[h.id], d.lock(h))
	}
	ids := slices.Sorted(maps.Keys(locks))
	for len(ids) > 0 { // one statement for consecutive hosts with the same lock
		n := 1
		for n < len(ids) && locks[ids[n]] == locks[ids[0]] {
			n++
		}
		t.queueLock(b, ids[:n], locks[ids[0]])
		ids = ids[n:]
	}
	return nil
}

// queueLock queues a statement that locks and reads hosts in the order of ids.
func (t *tx) queueLock(b *pgx.Batch, ids []int64, with lock) {
	b.Queue(hostColumns+"where id = any($1) order by id for "+lockClauses[with], ids).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			h := &host{now: t.now, lock: with}
			if err := h.scan(rows); err != nil {
				return err
			}
			t.hosts[h.name], t.ids[h.id] = h, h
		}
		return rows.Err()
	})
}

// A hostSet contains hosts that were read without locks.
type hostSet struct {
	names map[string]*host
	ids   map[int64]*host
}

func newHostSet() hostSet { return hostSet{map[string]*host{}, map[int64]*host{}} }

func (s hostSet) of(d demand) *host {
	if d.id != 0 {
		return s.ids[d.id]
	}
	return s.names[d.name]
}

const (
	hostsByName = hostColumns + "where name = any($1)"
	hostsByID   = hostColumns + "where id = any($1)"
)

// queue queues a statement that reads hosts into s. An earlier statement of the
// batch can set *now, which is the time of the transaction.
func (s hostSet) queue(b *pgx.Batch, now *int64, query string, of any) {
	b.Queue(query, of).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			h := &host{now: *now}
			if err := h.scan(rows); err != nil {
				return err
			}
			s.names[h.name], s.ids[h.id] = h, h
		}
		return rows.Err()
	})
}

// findHosts reads the hosts of the demands without locks, unless queueLoad has read
// them. It inserts missing hosts.
func (t *tx) findHosts(demands []demand) (hostSet, error) {
	var names []string
	var ids []int64
	for _, d := range demands {
		switch {
		case t.known.of(d) != nil:
		case d.id != 0:
			ids = append(ids, d.id)
		default:
			names = append(names, d.name)
		}
	}
	var b pgx.Batch
	if len(names) > 0 {
		slices.Sort(names)
		names = slices.Compact(names)
		b.Queue(`insert into host (name) select n from unnest($1::text[]) n
			where not exists (select from host where name = n) order by n on conflict do nothing`, names)
		t.known.queue(&b, &t.now, hostsByName, names)
	}
	if len(ids) > 0 {
		t.known.queue(&b, &t.now, hostsByID, ids)
	}
	if b.Len() == 0 {
		return t.known, nil
	}
	return t.known, t.send(&b)
}

// computeDue is the SQL expression of the column due for a host h that is not
// leased. The parameter $1 is the current time. A host with a ready URL is claimed
// after the hosts that are already due.
const computeDue = "case when " + hasReady + ` then greatest(h.next, $1) else (select greatest(h.next, min(wait)) from url
	where host = h.id and state = 0 and wait is not null having min(wait) is not null) end`

// hasReady is the SQL condition that a host h has a ready URL.
const hasReady = "exists (select from url where host = h.id and state = 0 and wait is null)"

// settle queues statements that write all changed hosts.
func (t *tx) settle(b *pgx.Batch) {
	var stale []int64
	for _, h := range slices.SortedFunc(maps.Values(t.ids), func(a, b *host) int { return cmp.Compare(a.id, b.id) }) {
		if h.changed {
			b.Queue("update host set due = $2 where id = $1", h.id, h.due)
		}
		if h.stale {
			stale = append(stale, h.id)
		}
	}
	if len(stale) > 0 {
		b.Queue("update host h set due = "+computeDue+" where id = any($2)", t.now, stale)
	}
}
