package mirror

import (
	"sync"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// A tally counts the visited objects of a run and enforces Limits. The limits of
// a crawl with a shared frontier apply to all its workers.
type tally struct {
	shared bool // whether the frontier is shared

	mu     sync.Mutex
	limits Limits
	own    frontier.Counts  // objects visited by this process, or by this worker in the run if the frontier is shared
	others frontier.Counts  // objects visited by the other workers during the run
	read   time.Time        // time at which others was read
	hosts  map[string]int64 // number of objects of each host, including earlier runs
}

func newTally(l Limits, shared bool) tally {
	return tally{limits: l, shared: shared, hosts: map[string]int64{}}
}

// A count describes how a visit counts for Limits.
type count struct {
	// Files is 1 for a visited object, including unchanged and failed objects.
	// Bytes is the size of the payload, including unchanged objects.
	frontier.Counts

	objects int64 // 1 for an object that is new to the archive
}

// setHost copies the number of objects of the leased host from a shared
// frontier. No other worker adds objects during the lease of this worker.
func (t *tally) setHost(l *frontier.Lease) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.shared || t.limits.PerHost <= 0 {
		return
	}
	t.hosts[l.Host] = l.Objects
}

// needsOthers reports whether the run has a limit for the counts of all workers,
// and the counts of the other workers are older than limitsInterval. If so, the
// caller must read them.
func (t *tally) needsOthers(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.shared || t.limits.Files <= 0 && t.limits.Bytes <= 0 || now.Sub(t.read) < limitsInterval {
		return false
	}
	t.read = now
	return true
}

// setOthers sets the counts of the other workers.
func (t *tally) setOthers(others frontier.Counts) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.others = others
}

// reasonHostLimit is the note of a URL that is excluded because of
// Limits.PerHost.
const reasonHostLimit = "the host has reached the limit of objects"

// hostExhausted reports whether the host of an item has reached Limits.PerHost.
// Objects of earlier runs also count. Otherwise each run would retrieve new
// objects up to the limit.
func (t *tally) hostExhausted(it frontier.Item) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.shared && it.LastCapture != nil {
		return false // the shared frontier has counted the object already
	}
	if t.limits.PerHost > 0 && t.hosts[it.Host] >= t.limits.PerHost {
		return true
	}
	if it.LastCapture != nil && it.Attempts == 0 {
		t.hosts[it.Host]++
	}
	return false
}

// count adds the visit v to the totals of the run and of its host. If the host
// has reached its limit, it returns a reason to exclude v. If the run has
// reached a limit, it returns ErrLimit.
func (t *tally) count(v *visit) (reason string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := &t.limits
	counted := countsAsFile(v)
	if counted && t.exhausted() {
		return "", ErrLimit
	}
	if v.isNew() && v.item.LastCapture == nil {
		if l.PerHost > 0 && t.hosts[v.item.Host] >= l.PerHost {
			return reasonHostLimit, nil
		}
		t.hosts[v.item.Host]++
		v.counts.objects = 1
	}
	if counted {
		v.counts.Files = 1
	}
	switch {
	case counted && v.content.isUnchanged() && v.item.LastCapture != nil:
		v.counts.Bytes = v.item.LastCapture.Size
	case v.body != nil:
		v.counts.Bytes = v.size
	}
	t.own.Files += v.counts.Files
	t.own.Bytes += v.counts.Bytes
	return "", nil
}

// countPage adds what a page requested in a browser to the totals. It does not
// reach a limit itself, so that the page is complete.
func (t *tally) countPage(p *openedPage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.own.Bytes += p.extraBytes()
	for _, w := range p.companions {
		if !countsAsFile(w) {
			continue
		}
		if w.isNew() && w.item.LastCapture == nil {
			t.hosts[w.item.Host]++
			w.counts.objects = 1
		}
		w.counts.Files, w.counts.Bytes = 1, w.size
		t.own.Files++
		t.own.Bytes += w.size
	}
}

// countsAsFile reports whether v counts for Limits.Files. Unchanged, deleted
// and failed objects also count, so that the limit applies to a run without new
// objects.
func countsAsFile(v *visit) bool {
	switch v.outcome {
	case visitDone, visitKept:
		return v.requested || v.content == contentListed
	case visitGone, visitDead:
		return v.requested
	}
	return false
}

// setLimits changes the limits Files, Bytes and Time.
func (t *tally) setLimits(l Limits) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.limits.Files, t.limits.Bytes, t.limits.Time = l.Files, l.Bytes, l.Time
}

// time returns Limits.Time.
func (t *tally) time() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.limits.Time
}

// exhausted reports whether the run has reached Limits.Files or Limits.Bytes.
// The caller must hold t.mu.
func (t *tally) exhausted() bool {
	l := &t.limits
	return l.Files > 0 && t.own.Files+t.others.Files >= l.Files || l.Bytes > 0 && t.own.Bytes+t.others.Bytes >= l.Bytes
}

// limitReached returns ErrLimit if the run has reached Limits.Files or
// Limits.Bytes, and nil otherwise.
func (t *tally) limitReached() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.exhausted() {
		return ErrLimit
	}
	return nil
}
