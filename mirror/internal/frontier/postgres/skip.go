package postgres

import (
	"slices"
	"sync"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// MaxSkipped is the maximum number of hosts that Skip adds. Each claim sends
// their names to the database.
const MaxSkipped = 1000

// Skip makes Claim of f return no leases of a host. Other workers can still
// claim the host. Stats.Open of f does not count the host. Skip returns false if
// MaxSkipped other hosts are skipped already. It has no effect if f does not
// belong to this package.
func Skip(f frontier.Frontier, host string) bool {
	e, ok := f.(*engine)
	return !ok || e.skipped.add(host)
}

// SkipNone undoes all calls of Skip. It has no effect if f does not belong to
// this package.
func SkipNone(f frontier.Frontier) {
	if e, ok := f.(*engine); ok {
		e.skipped.clear()
	}
}

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
	case len(s.list) == MaxSkipped:
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
