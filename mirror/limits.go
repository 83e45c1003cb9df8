package mirror

import (
	"errors"
	"math"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/frontier"
)

// Limits bound a run. Zero is no limit, except where a default is given. A run
// that a limit has ended can be continued.
type Limits struct {
	Files    int64
	Bytes    int64 // of payloads; the object that reaches it is the last
	Time     time.Duration
	PerHost  int64 // files of one host; its others are passed over
	FileSize int64 // larger objects are passed over
	MinFree  int64 // bytes that the disk must keep

	// These bound how much one answer adds to the archive. A run does not end
	// when it reaches one of them; Summary counts the URLs that were left out.
	// URLs that the run knows already do not count. A negative value is no limit.
	Links   int64 // of a page; 0: 10,000
	Entries int64 // of a listing, or of a sitemap; 0: 1,000,000
	Queue   int64 // pending URLs of a host; 0: 1,000,000
}

// The defaults of Limits.
const (
	DefaultLinks   = 10_000
	DefaultEntries = 1_000_000
	DefaultQueue   = 1_000_000
)

// limit returns the bound that n, a field of Limits, means.
func limit(n, otherwise int64) int64 {
	switch {
	case n == 0:
		return otherwise
	case n < 0:
		return math.MaxInt64
	}
	return n
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
