package mirror

import (
	"errors"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/frontier"
)

// Limits end a run that can be continued. Zero is no limit.
type Limits struct {
	Files    int64
	Bytes    int64 // of payloads; the object that reaches it is the last
	Time     time.Duration
	PerHost  int64 // files of one host; its others are passed over
	FileSize int64 // larger objects are passed over
	MinFree  int64 // bytes that the disk must keep
}

// ErrLimit says that a limit ended the run before it was complete.
var ErrLimit = fetch.TooLarge.Errorf("a limit of the mirror is reached")

// tally counts what was brought, committed or not.
type tally struct {
	mu    sync.Mutex
	files int64
	bytes int64
	hosts map[string]int64 // files, and those of earlier runs
}

// tooMany is why an object is passed over whose host has no share left.
const tooMany = "as many objects as one host may have"

// enough reports whether the host of it has no share left. What was brought
// before takes its part when it is visited, which is before all that is new:
// else each run would bring as many again.
func (m *mirror) enough(it frontier.Item) bool {
	m.tally.mu.Lock()
	defer m.tally.mu.Unlock()
	if m.Limits.PerHost > 0 && m.tally.hosts[it.Host] >= m.Limits.PerHost {
		return true
	}
	if it.Last != nil && it.Attempts == 0 {
		m.tally.hosts[it.Host]++
	}
	return false
}

// admit counts v, unless that would be more than the run may bring: then why
// tells that it is passed over, or err that the run ends without it.
func (m *mirror) admit(v *visit) (why string, err error) {
	l, t := &m.Limits, &m.tally
	t.mu.Lock()
	defer t.mu.Unlock()
	if first := v.item.Last == nil; v.new() {
		switch {
		case l.Files > 0 && t.files >= l.Files, l.Bytes > 0 && t.bytes >= l.Bytes:
			return "", ErrLimit
		case first && l.PerHost > 0 && t.hosts[v.item.Host] >= l.PerHost:
			return tooMany, nil
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

// limits tells whether the run has done what it may.
func (m *mirror) limits() error {
	l, t := &m.Limits, &m.tally
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.Files > 0 && t.files >= l.Files || l.Bytes > 0 && t.bytes >= l.Bytes {
		return ErrLimit
	}
	return m.space()
}

// space tells whether the disk has room for more.
func (m *mirror) space() error {
	if m.Limits.MinFree <= 0 {
		return nil
	}
	free, err := m.store.Free()
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return nil
	case err != nil:
		return err
	case free < m.Limits.MinFree:
		return fetch.DiskFull.Errorf("less than %d bytes are left on the disk", m.Limits.MinFree)
	}
	return nil
}
