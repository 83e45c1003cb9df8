// Package localaddr finds out whether an IP address belongs to this machine.
package localaddr

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// maxAge is the time for which a Set keeps the addresses that it has read.
const maxAge = 10 * time.Second

// A Set contains the addresses of this machine. On Linux, these are the addresses
// that the kernel routes to this machine. On other systems, and if the kernel
// does not answer, these are the addresses of the network interfaces. The Set
// reads them at most once in ten seconds. The zero Set is ready for use. It is
// safe for concurrent use.
type Set struct {
	// Read returns the addresses of the interfaces. If it is not nil, the Set
	// contains only these addresses. Nil means net.InterfaceAddrs.
	Read func() ([]net.Addr, error)

	mu    sync.Mutex
	read  time.Time // time of the last call of Read, or zero
	addrs map[netip.Addr]bool
	err   error // result of the last call of Read
}

// Contains reports whether a is an address of this machine. If the interfaces
// cannot be read, Contains returns the error and uses the addresses that it read
// before. On a nil *Set, it returns false.
func (s *Set) Contains(a netip.Addr) (bool, error) {
	if s == nil {
		return false, nil
	}
	a = a.WithZone("").Unmap()
	if s.Read == nil {
		if local, err := isRouted(a); err == nil {
			return local, nil
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.read.IsZero() || time.Since(s.read) > maxAge {
		s.refresh()
	}
	return s.addrs[a], s.err
}

func (s *Set) refresh() {
	read := s.Read
	if read == nil {
		read = net.InterfaceAddrs
	}
	var list []net.Addr
	list, s.err = read()
	s.read = time.Now()
	if s.err != nil {
		return
	}
	s.addrs = map[netip.Addr]bool{}
	for _, text := range list {
		if p, err := netip.ParsePrefix(text.String()); err == nil { // other networks than IP have other addresses
			s.addrs[p.Addr().Unmap()] = true
		}
	}
}
