package mirror

import (
	"sync"

	"github.com/anyurl/fetch/internal/frontier"
)

// tally counts what was retrieved, committed or not, and holds it to Limits.
type tally struct {
	limits Limits

	mu    sync.Mutex
	files int64
	bytes int64
	hosts map[string]int64 // files, and those of earlier runs
}

func newTally(l Limits) tally { return tally{limits: l, hosts: map[string]int64{}} }

// tooMany is why an object is passed over whose host has no share left.
const reasonHostLimit = "as many objects as one host may have"

// exhausted reports whether the host of it has no share left. What was
// retrieved before takes its part when it is visited, which is before all that
// is new: else each run would retrieve as many again.
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

// admit counts v, unless that would be more than the run may retrieve: then why
// tells that it is passed over, or err that the run ends without it.
func (t *tally) count(v *visit) (why string, err error) {
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

// complete returns ErrLimit if the run has retrieved what it may.
func (t *tally) limitReached() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l := &t.limits; l.Files > 0 && t.files >= l.Files || l.Bytes > 0 && t.bytes >= l.Bytes {
		return ErrLimit
	}
	return nil
}
