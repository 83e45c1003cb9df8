package fetch

import (
	"context"
	"time"
)

// In some networks, only a proxy resolves the names of the Internet. Such a
// network has no DNS server, or a DNS server for only the names of this network.
// The dialer detects such a network with a name that every other DNS server
// resolves. A server that supplies a URL cannot change the result for this name.
// It could change the result for its own name.
const (
	knownName   = "a.root-servers.net."
	knownTime   = 5 * time.Second // of the query for knownName
	absenceTime = time.Minute     // in which the result is not queried again
)

// resolvesInternet reports whether the resolver resolves names of the Internet.
func (d *dialer) resolvesInternet(ctx context.Context) bool {
	d.absence.Lock()
	defer d.absence.Unlock()
	if time.Now().Before(d.absence.until) {
		return false
	}
	within, cancel := context.WithTimeout(ctx, knownTime)
	defer cancel()
	addrs, err := d.resolver.LookupNetIP(within, "ip", knownName)
	if err == nil && len(addrs) > 0 || ctx.Err() != nil {
		return true
	}
	d.absence.until = time.Now().Add(absenceTime)
	return false
}
