package postgres

import (
	"slices"
	"sync"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

func (e *engine) Skip(host string) bool { return e.skipped.add(host) }

func (e *engine) SkipNone() { e.skipped.clear() }

// skippedHosts is a set of hosts that is safe for concurrent use.
type skippedHosts struct {
	mu   sync.Mutex
	list []string
}

// add adds host to the set and reports whether the set contains it.
func (s *skippedHosts) add(host string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case slices.Contains(s.list, host):
		return true
	case len(s.list) == frontier.MaxSkipped:
		return false
	}
	s.list = append(s.list, host)
	return true
}

func (s *skippedHosts) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = nil
}

// names returns the hosts. The result is not nil, because nil would become null.
func (s *skippedHosts) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.list...)
}
