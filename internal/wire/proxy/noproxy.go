package proxy

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/uri/iri"
)

// An exemption is one entry of no_proxy, such as a host name.
type exemption struct {
	all    bool
	suffix string       // host name or parent domain, without a leading dot
	prefix netip.Prefix // matching addresses
	port   uint16       // zero for any port
}

// parseNoProxy parses the value of no_proxy, a list separated by commas or
// spaces. An entry is a host name, an IP address, a CIDR prefix such as
// 10.0.0.0/8, or "*" for all hosts. A host name also matches its subdomains. A
// name or an address may have a port. International names are converted as in
// URLs. parseNoProxy skips invalid entries.
func parseNoProxy(list string) (exemptions []exemption) {
	for _, entry := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		if e, ok := parseExemption(entry); ok {
			exemptions = append(exemptions, e)
		}
	}
	return exemptions
}

func parseExemption(entry string) (e exemption, ok bool) {
	if entry == "*" {
		return exemption{all: true}, true
	}
	if base, bits, hasPrefix := strings.Cut(entry, "/"); hasPrefix {
		addr, ok1 := parseLiteral(base)
		n, err := strconv.ParseUint(bits, 10, 8)
		if !ok1 || err != nil || int(n) > addr.BitLen() {
			return e, false
		}
		e.prefix, err = addr.Prefix(int(n))
		return e, err == nil
	}
	host := entry
	if addr, ok := parseLiteral(host); ok {
		e.prefix = netip.PrefixFrom(addr, addr.BitLen())
		return e, true
	}
	if i := strings.LastIndexByte(entry, ':'); i >= 0 {
		n, err := strconv.ParseUint(entry[i+1:], 10, 16)
		if err != nil || n == 0 {
			return e, false
		}
		host, e.port = entry[:i], uint16(n)
		if addr, ok := parseLiteral(host); ok {
			e.prefix = netip.PrefixFrom(addr, addr.BitLen())
			return e, true
		}
	}
	name := strings.TrimPrefix(strings.TrimSuffix(host, "."), ".")
	e.suffix = lowerASCII(iri.ASCIIHost(name))
	return e, e.suffix != ""
}

// exempt reports whether one of the exemptions matches host and port. It does
// not resolve names, so an IP address matches only addresses and CIDR prefixes.
func exempt(exemptions []exemption, host string, port uint16) bool {
	if len(exemptions) == 0 {
		return false
	}
	addr, isAddr := parseLiteral(host)
	name := lowerASCII(strings.TrimSuffix(host, "."))
	for _, e := range exemptions {
		if e.port != 0 && e.port != port {
			continue
		}
		switch {
		case e.all:
			return true
		case isAddr:
			if e.prefix.IsValid() && e.prefix.Contains(addr) {
				return true
			}
		case e.suffix != "" && (name == e.suffix || strings.HasSuffix(name, "."+e.suffix)):
			return true
		}
	}
	return false
}

// parseLiteral parses an IP address, with or without brackets. It removes the
// zone of an IPv6 address. Otherwise, an entry of no_proxy could match the zone
// like the end of a host name (CVE-2025-22870).
func parseLiteral(s string) (netip.Addr, bool) {
	if inner, ok := strings.CutPrefix(s, "["); ok {
		if s, ok = strings.CutSuffix(inner, "]"); !ok || !strings.Contains(s, ":") {
			return netip.Addr{}, false
		}
	}
	if strings.Contains(s, ":") {
		s, _, _ = strings.Cut(s, "%")
	}
	addr, err := netip.ParseAddr(s)
	return addr.Unmap(), err == nil
}

// lowerASCII converts ASCII letters to lower case. Unlike strings.ToLower, it
// does not convert the Kelvin sign (U+212A) to the letter k.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
