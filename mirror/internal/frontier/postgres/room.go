package postgres

import "sync"

// A rooms caches the number of pending URLs of hosts, so that most transactions
// need not count them. It is used for hosts far below the limit of pending
// URLs. It is safe for concurrent use.
type rooms struct {
	mu    sync.Mutex
	hosts map[int64]room
}

type room struct {
	stored int64 // number of pending URLs when they were counted
	added  int64 // number of URLs that this engine has added since then
}

// maxRooms is the maximum number of hosts in a rooms.
const maxRooms = 1 << 16

// roomShare determines when an engine counts the pending URLs of a host again,
// which is after it has added limit/roomShare URLs. The limit is exact if at
// most roomShare/2 workers run.
const roomShare = 64

// below reports whether the host with the given row number is below the limit.
// If it returns false, the caller must count the pending URLs.
func (r *rooms) below(host, limit int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	h, ok := r.hosts[host]
	return ok && h.stored < limit/2 && h.added < limit/roomShare
}

// set records the counted number of pending URLs of a host.
func (r *rooms) set(host, stored int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hosts == nil || len(r.hosts) >= maxRooms {
		r.hosts = map[int64]room{}
	}
	r.hosts[host] = room{stored: stored}
}

// add records n URLs that were added to a host.
func (r *rooms) add(host, n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h, ok := r.hosts[host]; ok {
		h.added += n
		r.hosts[host] = h
	}
}

// reset forgets all hosts, because the limit has changed.
func (r *rooms) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hosts = nil
}
