package mirror

import (
	"sync"

	"github.com/anyurl/fetch/internal/frontier"
)

// A tally counts the retrieved objects, committed or not, and enforces Limits.
type tally struct {
	limits Limits

	mu    sync.Mutex
	files int64
	bytes int64
	hosts map[string]int64 // number of objects, with those of earlier runs
}

func newTally(l Limits) tally { return tally{limits: l, hosts: map[string]int64{}} }

// reasonHostLimit is the reason to exclude an object of a host that has reached
// Limits.PerHost.
const reasonHostLimit = "the host has reached the limit of objects"

// hostExhausted reports whether the host of it has reached Limits.PerHost.
// Objects of earlier runs count when they are visited, before all new ones.
// Otherwise each run would retrieve that number of new objects.
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

// count counts v. It returns a reason to exclude v if its host has reached its
// limit, or ErrLimit if the run has reached a limit.
func (t *tally) count(v *visit) (reason string, err error) {
	l := &t.limits
	t.mu.Lock()
	defer t.mu.Unlock()
	if first := v.item.LastCapture == nil; v.isNew() {
		switch {
		case l.Files > 0 && t.files >= l.Files, l.Bytes > 0 && t.bytes >= l.Bytes:
			return "", ErrLimit
		case first && l.PerHost > 0 && t.hosts[v.item.Host] >= l.PerHost:
			return reasonHostLimit, nil
		}
		if t.files++; first {
			t.hosts[v.item.Host]++
		}
	}
	if v.body != nil {
		t.bytes += v.size
	}
	return "", nil
}

// limitReached returns ErrLimit if the run has retrieved the maximum number of
// files or bytes.
func (t *tally) limitReached() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l := &t.limits; l.Files > 0 && t.files >= l.Files || l.Bytes > 0 && t.bytes >= l.Bytes {
		return ErrLimit
	}
	return nil
}
