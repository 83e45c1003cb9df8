package mirror

import (
	"sync"

	"github.com/anyurl/fetch/internal/frontier"
)

// A tally counts the visited objects of a run and enforces Limits.
type tally struct {
	limits Limits

	mu    sync.Mutex
	files int64            // number of visited objects, including unchanged and failed objects
	bytes int64            // total size of the payloads, including unchanged objects
	hosts map[string]int64 // number of objects of each host, including earlier runs
}

func newTally(l Limits) tally { return tally{limits: l, hosts: map[string]int64{}} }

// reasonHostLimit is the note of a URL that is excluded because of
// Limits.PerHost.
const reasonHostLimit = "the host has reached the limit of objects"

// hostExhausted reports whether the host of an item has reached Limits.PerHost.
// Objects of earlier runs also count. Otherwise each run would retrieve new
// objects up to the limit.
func (t *tally) hostExhausted(it frontier.Item) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.limits.PerHost > 0 && t.hosts[it.Host] >= t.limits.PerHost {
		return true
	}
	if it.LastCapture != nil && it.Attempts == 0 {
		t.hosts[it.Host]++
	}
	return false
}

// count counts the visit v. If the host of v has reached its limit, it returns
// a reason to exclude v. If the run has reached a limit, it returns ErrLimit.
func (t *tally) count(v *visit) (reason string, err error) {
	l := &t.limits
	t.mu.Lock()
	defer t.mu.Unlock()
	counted := countsAsFile(v)
	if counted && t.exhausted() {
		return "", ErrLimit
	}
	if v.isNew() && v.item.LastCapture == nil {
		if l.PerHost > 0 && t.hosts[v.item.Host] >= l.PerHost {
			return reasonHostLimit, nil
		}
		t.hosts[v.item.Host]++
	}
	if counted {
		t.files++
	}
	switch {
	case counted && v.unchanged && v.item.LastCapture != nil:
		t.bytes += v.item.LastCapture.Size
	case v.body != nil:
		t.bytes += v.size
	}
	return "", nil
}

// countsAsFile reports whether v counts for Limits.Files. Unchanged, deleted
// and failed objects also count, so that the limit applies to a run without new
// objects.
func countsAsFile(v *visit) bool {
	switch v.state {
	case frontier.Done, frontier.Kept:
		return v.requested || v.listed
	case frontier.Gone, frontier.Dead:
		return v.requested
	}
	return false
}

// exhausted reports whether the run has reached Limits.Files or Limits.Bytes.
// The caller must hold t.mu.
func (t *tally) exhausted() bool {
	l := &t.limits
	return l.Files > 0 && t.files >= l.Files || l.Bytes > 0 && t.bytes >= l.Bytes
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
