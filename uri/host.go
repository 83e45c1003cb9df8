package uri

import (
	"net/netip"
	"strings"
)

// A HostKind says which form of RFC 3986 section 3.2.2 a host has.
type HostKind uint8

const (
	NoHost    HostKind = iota // no authority, or an empty host
	RegName                   // a registered name: what DNS or another directory knows
	IPv4                      // four decimal octets; other spellings are RegName
	IPv6                      // in brackets; with a zone only from ParseZone
	IPvFuture                 // "[v1.…]": nobody has assigned one
)

func (k HostKind) String() string {
	switch k {
	case NoHost:
		return "no host"
	case RegName:
		return "registered name"
	case IPv4:
		return "IPv4"
	case IPv6:
		return "IPv6"
	case IPvFuture:
		return "IPvFuture"
	}
	return "unknown"
}

// HostKind returns the form of the host.
func (u URI) HostKind() HostKind { return u.kind }

// Addr returns the address that the host spells, its zone decoded, and whether
// it spells one. A zone with a control character in it is no address.
func (u URI) Addr() (netip.Addr, bool) {
	host := u.Host()
	switch u.kind {
	case IPv4: // four octets, as isIPv4 found them
		var octets [4]byte
		n := 0
		for i := range len(host) {
			if host[i] == '.' {
				n++
			} else {
				octets[n] = octets[n]*10 + host[i] - '0'
			}
		}
		return netip.AddrFrom4(octets), true
	case IPv6:
		host, zone, _ := strings.Cut(host[1:len(host)-1], "%25")
		a, err := netip.ParseAddr(host)
		if err != nil {
			return a, false
		}
		zone, err = Unescape(zone)
		if err != nil || strings.ContainsFunc(zone, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return netip.Addr{}, false
		}
		return a.WithZone(zone), true
	}
	return netip.Addr{}, false
}

// parseLiteral parses an IP-literal from its "[" at s[i], and returns its end.
func parseLiteral(s string, i int, zones bool) (HostKind, int, error) {
	n := strings.IndexByte(s[i:], ']')
	if n < 0 {
		return 0, 0, &Error{i, "IP literal without closing bracket"}
	}
	end := i + n + 1
	body := s[i+1 : end-1]
	if body != "" && body[0]|0x20 == 'v' {
		if !isIPvFuture(body) {
			return 0, 0, &Error{i, "malformed IPvFuture literal"}
		}
		return IPvFuture, end, nil
	}
	if addr, zone, ok := strings.Cut(body, "%"); ok {
		if !zones {
			return 0, 0, &Error{i + 1 + len(addr), "zone identifier in IPv6 literal"}
		}
		id, ok := strings.CutPrefix(zone, "25")
		if !ok || id == "" || span(id, 0, Unreserved) != len(id) {
			return 0, 0, &Error{i + 1 + len(addr), "malformed zone identifier"}
		}
		body = addr
	}
	if !isIPv6(body) {
		return 0, 0, &Error{i, "malformed IPv6 literal"}
	}
	return IPv6, end, nil
}

// isIPv4 matches IPv4address: four octets without leading zeros.
func isIPv4(s string) bool {
	octets, i := 0, 0
	for {
		start, n := i, 0
		for i < len(s) && i-start < 3 && digit.Has(s[i]) {
			n = n*10 + int(s[i]-'0')
			i++
		}
		if i == start || n > 255 || (s[start] == '0' && i-start > 1) {
			return false
		}
		octets++
		if octets == 4 || i == len(s) || s[i] != '.' {
			return octets == 4 && i == len(s)
		}
		i++
	}
}

// isIPv6 matches IPv6address, whose language is netip's without zones.
func isIPv6(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is6() && a.Zone() == ""
}

// isIPvFuture matches "v" 1*HEXDIG "." 1*( unreserved / sub-delims / ":" ).
func isIPvFuture(s string) bool {
	dot := run(s, 1, hexDigit)
	return dot > 1 && dot+1 < len(s) && s[dot] == '.' &&
		run(s, dot+1, UserinfoChars) == len(s)
}
