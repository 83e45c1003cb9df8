package sqlite

import (
	"database/sql"
	"errors"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

// host is a row of the table host and its row of the table control. Its changes
// are written to the database by settle.
type host struct {
	rules.Host
	pending  int64    // value of Pending in the database
	settings settings // values in the database
}

// settings contains the columns of the table control.
type settings struct {
	held         sql.NullInt64
	delay, crawl int64
	excluded     bool
	objects      int64
}

const selectHost = `select id, name, pending, next, due, epoch, until, held, coalesce(delay, 0), coalesce(crawl, 0),
	coalesce(excluded, 0), coalesce(objects, 0) from host left join control on control.host = host.id `

// scanHost reads a host from the columns of selectHost.
func scanHost(scan func(...any) error, now int64) (*host, error) {
	h := &host{Host: rules.Host{Now: now}}
	err := scan(&h.ID, &h.Name, &h.Pending, &h.Next, &h.Due, &h.Epoch, &h.Until,
		&h.Held, &h.Delay, &h.CrawlDelay, &h.Excluded, &h.Objects)
	h.Due.Valid = h.Pending > 0 || h.Leased()
	h.pending, h.settings = h.Pending, h.newSettings()
	return h, err
}

func (h *host) newSettings() settings {
	return settings{h.Held, h.Delay, h.CrawlDelay, h.Excluded, h.Objects}
}

// readHost reads the host that matches an SQL condition. If no host matches, the
// error is sql.ErrNoRows.
func (s *session) readHost(now int64, where string, args ...any) (*host, error) {
	return scanHost(func(to ...any) error { return s.Scan(selectHost+where, args, to...) }, now)
}

// findHost returns the host that matches an SQL condition, as changed by this
// transaction.
func (t *tx) findHost(where string, args ...any) (*host, error) {
	h, err := t.readHost(t.Now, where, args...)
	if err != nil {
		return nil, err
	}
	if known := t.hosts[h.ID]; known != nil {
		return known, nil
	}
	t.hosts[h.ID], t.names[h.Name] = h, h
	return h, nil
}

// FindHost implements rules.Store.
func (t *tx) FindHost(name string) (*rules.Host, error) {
	h := t.names[name]
	if h == nil {
		var err error
		h, err = t.findHost("where name=?", name)
		if errors.Is(err, sql.ErrNoRows) {
			h = &host{Host: rules.Host{Name: name, Now: t.Now}}
			h.ID, err = t.insert("insert into host (name) values (?)", name)
			t.hosts[h.ID], t.names[name] = h, h
		}
		if err != nil {
			return nil, err
		}
	}
	return &h.Host, nil
}

// HostOf implements rules.Store.
func (t *tx) HostOf(id int64) (*rules.Host, error) {
	h := t.hosts[id]
	if h == nil {
		var err error
		if h, err = t.findHost("where id=?", id); err != nil {
			return nil, err
		}
	}
	return &h.Host, nil
}

// IsFull implements rules.Store.
func (t *tx) IsFull(h *rules.Host, limit int64) (bool, error) { return h.Pending >= limit, nil }

// leasedHost reads the leased host. It returns ErrFenced if the lease was
// released or another worker has claimed the host. Otherwise even an expired
// lease is valid, so that completed work is not lost.
func (s *session) leasedHost(l *frontier.Lease, now int64) (*host, error) {
	h, err := s.readHost(now, "where name=? and epoch=? and until is not null", l.Host, l.Epoch)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, frontier.ErrFenced
	}
	return h, err
}

// leasedHost is like session.leasedHost, but the transaction can change the host.
func (t *tx) leasedHost(l *frontier.Lease) (*host, error) {
	h, err := t.session.leasedHost(l, t.Now)
	if err == nil {
		t.hosts[h.ID], t.names[h.Name] = h, h
	}
	return h, err
}

// settle writes all changed hosts to the database.
func (t *tx) settle() error {
	for _, h := range t.hosts {
		if h.NeedsDue() {
			if err := t.computeDue(h); err != nil {
				return err
			}
		}
		if h.Changed || h.Pending != h.pending {
			due := h.Due.Int64
			if !h.Due.Valid {
				due = rules.FarFuture
			}
			err := t.Exec("update host set pending=?, next=?, due=?, epoch=?, until=?, owner=coalesce(nullif(?, ''), owner) where id=?",
				h.Pending, h.Next, due, h.Epoch, h.Until, h.Owner, h.ID)
			if err != nil {
				return err
			}
		}
		if s := h.newSettings(); s != h.settings {
			err := t.Exec(`insert into control (host, held, delay, crawl, excluded, objects) values (?1, ?2, ?3, ?4, ?5, ?6)
				on conflict (host) do update set held=?2, delay=?3, crawl=?4, excluded=?5, objects=?6`,
				h.ID, s.held, s.delay, s.crawl, s.excluded, s.objects)
			if err != nil {
				return err
			}
		}
		h.pending, h.settings, h.Changed, h.Stale = h.Pending, h.newSettings(), false, false
	}
	return nil
}

// computeDue sets Due of a host that is not leased.
func (t *tx) computeDue(h *host) error {
	var ready bool
	var wait sql.NullInt64
	err := t.Scan(`select exists (select 1 from url where host=?1 and state=0 and wait is null),
		(select min(wait) from url where host=?1 and wait is not null)`, []any{h.ID}, &ready, &wait)
	h.SetDue(ready, wait)
	return err
}
