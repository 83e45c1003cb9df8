package rules

import (
	"sync"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// SeenKeys caches keys of URLs in the active run, so that Add can skip these
// URLs without a query. Most links in a site lead to a small number of URLs. The
// zero value is empty. SeenKeys is safe for concurrent use.
type SeenKeys struct {
	mu   sync.Mutex
	run  int64
	keys map[frontier.Key]struct{}
}

// maxSeen is the maximum number of cached keys, which occupy a few megabytes.
const maxSeen = 1 << 16

// Contains reports whether the cache contains k for the given run.
func (s *SeenKeys) Contains(run int64, k frontier.Key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.keys[k]
	return ok && s.run == run
}

// Remember adds the keys of a committed transaction of the given run to the
// cache.
func (s *SeenKeys) Remember(run int64, met []frontier.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys == nil || s.run != run || len(s.keys)+len(met) > maxSeen {
		s.run, s.keys = run, make(map[frontier.Key]struct{})
	}
	for _, k := range met[:min(len(met), maxSeen)] {
		s.keys[k] = struct{}{}
	}
}
