package postgres

import "sync"

// pendingCounts caches the number of pending URLs of hosts, so that most transactions
// need not count them. It is used for hosts far below the limit of pending
// URLs. It is safe for concurrent use.
type pendingCounts struct {
	mu    sync.Mutex
	hosts map[int64]pendingCount
}

type pendingCount struct {
	stored int64 // number of pending URLs when they were counted
	added  int64 // number of URLs that this engine has added since then
}

// maxCounts is the maximum number of hosts in a pendingCounts.
const maxCounts = 1 << 16

// countShare determines when an engine counts the pending URLs of a host again,
// which is after it has added limit/countShare URLs. The limit is exact if at
// most countShare/2 workers run.
const countShare = 64

// below reports whether the host with the given row number is below the limit.
// If it returns false, the caller must count the pending URLs.
func (p *pendingCounts) below(host, limit int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	h, ok := p.hosts[host]
	return ok && h.stored < limit/2 && h.added < limit/countShare
}

// set records the counted number of pending URLs of a host.
func (p *pendingCounts) set(host, stored int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hosts == nil || len(p.hosts) >= maxCounts {
		p.hosts = map[int64]pendingCount{}
	}
	p.hosts[host] = pendingCount{stored: stored}
}

// add records n URLs that were added to a host.
func (p *pendingCounts) add(host, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h, ok := p.hosts[host]; ok {
		h.added += n
		p.hosts[host] = h
	}
}

// reset forgets all hosts, because the limit has changed.
func (p *pendingCounts) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hosts = nil
}
