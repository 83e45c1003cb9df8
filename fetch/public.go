package fetch

import "net/netip"

// IsPublic reports whether the tables of [Policy] class a as a public address.
func IsPublic(a netip.Addr) bool { return a.IsValid() && classOf(a) == public }
