package uri

import (
	"net/netip"
	"strings"
)

// A HostKind describes the syntax of a host, such as an IPv4 address or a
// registered name (RFC 3986 section 3.2.2).
type HostKind uint8

const (
	NoHost    HostKind = iota // no authority, or an empty host
	RegName                   // a registered name, such as a DNS name
	IPv4                      // four decimal octets; other spellings are a RegName
	IPv6                      // an address in brackets; a zone requires ParseZone
	IPvFuture                 // "[v1.…]"; no version has been assigned
)

// String returns the name of the kind.
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

// HostKind returns the syntactic form of the host, such as IPv4.
func (u URI) HostKind() HostKind { return u.kind }

// Addr returns the IP address in the host, and whether the host is an IP
// address. The zone of the address is decoded. Addr returns false if the zone
// contains a control character.
func (u URI) Addr() (netip.Addr, bool) {
	host := u.Host()
	switch u.kind {
	case IPv4: // the octets were validated by isIPv4
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

// parseLiteral parses the IP literal, such as "[::1]", that starts at s[i]. It
// returns the kind of the host and the end of the literal.
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
		if !ok || id == "" || spanEncoded(id, 0, Unreserved) != len(id) {
			return 0, 0, &Error{i + 1 + len(addr), "malformed zone identifier"}
		}
		body = addr
	}
	if !isIPv6(body) {
		return 0, 0, &Error{i, "malformed IPv6 literal"}
	}
	return IPv6, end, nil
}

// isIPv4 reports whether s is an IPv4 address of four decimal octets without
// leading zeros.
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

// isIPv6 reports whether s is an IPv6 address without a zone identifier.
func isIPv6(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is6() && a.Zone() == ""
}

// isIPvFuture reports whether s matches the IPvFuture production of RFC 3986,
// as in "v1.abc".
func isIPvFuture(s string) bool {
	dot := spanRaw(s, 1, hexDigit)
	return dot > 1 && dot+1 < len(s) && s[dot] == '.' &&
		spanRaw(s, dot+1, UserinfoChars) == len(s)
}
