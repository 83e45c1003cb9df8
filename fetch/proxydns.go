package fetch

import (
	"context"
	"time"
)

// A network in which the names of the Internet are resolved only by a proxy has
// no DNS server, or one that knows only the names of this network. The dialer
// recognizes it by a name that every other DNS server resolves. A server that
// supplies a URL cannot change the result, unlike that of its own name.
const (
	knownName   = "a.root-servers.net."
	knownTime   = 5 * time.Second // of the query for knownName
	absenceTime = time.Minute     // in which the result is not queried again
)

// resolvesInternet reports whether the resolver knows names of the Internet.
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
