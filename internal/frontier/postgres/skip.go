package postgres

import (
	"slices"
	"sync"

	"github.com/anyurl/fetch/internal/frontier"
)

// Skip makes Claim of f return no leases of a host. Other workers can still
// claim the host. Stats.Open of f does not count the host. Skip has no effect if
// f does not belong to this package.
func Skip(f frontier.Frontier, host string) {
	if e, ok := f.(*engine); ok {
		e.skipped.add(host)
	}
}

// skippedHosts is a set of hosts that is safe for concurrent use.
type skippedHosts struct {
	mu   sync.Mutex
	list []string
}

func (s *skippedHosts) add(host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.list, host) {
		s.list = append(s.list, host)
	}
}

// names returns the hosts. The result is not nil, because nil would become null.
func (s *skippedHosts) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.list...)
}
