package fetch

import (
	"net/netip"
	"slices"
	"strings"
)

// A class is the trust level of an IP address. Higher values are more public. A
// server may link to addresses of its own class and of more public classes.
type class uint8

const (
	metadata  class = iota // cloud metadata services, which return credentials of the machine
	reserved               // multicast, documentation and future use
	loopback               // this machine
	linkLocal              // the local link
	private                // private networks
	public
)

var classNames = [...]string{"metadata service", "reserved", "loopback", "link-local", "private", "public"}

func (c class) String() string { return classNames[c] }

// specialPrefixes lists the address prefixes that are not public. The IPv4
// prefixes are from the special-purpose registry of IANA (RFC 6890). The IPv6
// prefixes include the reserved parts of 2000::/3. IPv6 addresses outside
// 2000::/3 that match no prefix are reserved, except NAT64 addresses.
var specialPrefixes = []struct {
	prefix netip.Prefix
	class  class
}{
	{netip.MustParsePrefix("0.0.0.0/8"), loopback}, // Linux connects to the local machine
	{netip.MustParsePrefix("127.0.0.0/8"), loopback},
	{netip.MustParsePrefix("169.254.0.0/16"), linkLocal},
	{netip.MustParsePrefix("10.0.0.0/8"), private},
	{netip.MustParsePrefix("100.64.0.0/10"), private},
	{netip.MustParsePrefix("172.16.0.0/12"), private},
	{netip.MustParsePrefix("192.168.0.0/16"), private},
	{netip.MustParsePrefix("192.0.0.0/24"), reserved},
	{netip.MustParsePrefix("192.0.2.0/24"), reserved},
	{netip.MustParsePrefix("192.31.196.0/24"), reserved},
	{netip.MustParsePrefix("192.52.193.0/24"), reserved},
	{netip.MustParsePrefix("192.88.99.0/24"), reserved},
	{netip.MustParsePrefix("192.175.48.0/24"), reserved},
	{netip.MustParsePrefix("198.18.0.0/15"), reserved},
	{netip.MustParsePrefix("198.51.100.0/24"), reserved},
	{netip.MustParsePrefix("203.0.113.0/24"), reserved},
	{netip.MustParsePrefix("224.0.0.0/4"), reserved},
	{netip.MustParsePrefix("240.0.0.0/4"), reserved},
	{netip.MustParsePrefix("::/127"), loopback}, // :: and ::1
	{netip.MustParsePrefix("fe80::/10"), linkLocal},
	{netip.MustParsePrefix("fec0::/10"), private},
	{netip.MustParsePrefix("fc00::/7"), private},
	{netip.MustParsePrefix("2001::/23"), reserved},
	{netip.MustParsePrefix("2001:db8::/32"), reserved},
	{netip.MustParsePrefix("2620:4f:8000::/48"), reserved},
	{netip.MustParsePrefix("3fff::/20"), reserved},
}

// metadataAddrs lists the IP addresses of the metadata services of cloud
// providers. One of them, 168.63.129.16, is part of the public address space.
var metadataAddrs = []netip.Addr{
	netip.MustParseAddr("169.254.169.254"), netip.MustParseAddr("169.254.170.2"),
	netip.MustParseAddr("169.254.170.23"), netip.MustParseAddr("fd00:ec2::254"),
	netip.MustParseAddr("fd00:ec2::23"), netip.MustParseAddr("100.100.100.200"),
	netip.MustParseAddr("192.0.0.192"), netip.MustParseAddr("168.63.129.16"),
	netip.MustParseAddr("fd20:ce::254"),    // Google Cloud
	netip.MustParseAddr("169.254.42.42"),   // Scaleway
	netip.MustParseAddr("169.254.0.23"),    // Tencent Cloud
	netip.MustParseAddr("fe80::a9fe:a9fe"), // OpenStack
}

// localNames lists the names that the hosts files of Linux, BSD, macOS and
// Windows assign to the local machine. Subdomains of localhost are local names
// too.
var localNames = []string{
	"localhost", "localhost.localdomain", "localhost4", "localhost4.localdomain4",
	"localhost6", "localhost6.localdomain6", "ip6-localhost", "ip6-loopback",
	"ipv6-localhost", "ipv6-loopback", "loopback", "broadcasthost",
}

// privateSuffixes lists the top-level domains and domains whose names exist only
// in private networks (RFC 6762 appendix G, RFC 8375, RFC 9476, and .internal
// and .mail, which ICANN does not delegate). Kubernetes and Consul resolve names in
// .svc and .consul.
var privateSuffixes = []string{
	"local", "internal", "intranet", "private", "corp", "home", "mail", "lan", "alt", "localdomain", "localhost", "home.arpa",
	"svc", "consul",
}

// isPrivateName reports whether a host name cannot exist in the public DNS: it
// has a single label or a suffix of private networks. A name with another suffix
// can have a private address too.
func isPrivateName(host string) bool {
	name := strings.TrimSuffix(host, ".")
	return !strings.Contains(name, ".") || slices.ContainsFunc(privateSuffixes, func(suffix string) bool {
		return strings.HasSuffix(name, "."+suffix)
	})
}

// metadataNames lists the host names of cloud metadata services.
var metadataNames = []string{"metadata.google.internal", "metadata", "instance-data"}

var (
	global6    = netip.MustParsePrefix("2000::/3")
	nat64      = netip.MustParsePrefix("64:ff9b::/96")
	nat64Local = netip.MustParsePrefix("64:ff9b:1::/48") // RFC 8215
	sixToFour  = netip.MustParsePrefix("2002::/16")
	teredo     = netip.MustParsePrefix("2001::/32")
	compatible = netip.MustParsePrefix("::/96")
	translated = netip.MustParsePrefix("::ffff:0:0:0/96") // RFC 2765
)

// classOf returns the class of an IP address. If an IPv6 address contains IPv4
// addresses, classOf returns the least public of their classes.
func classOf(a netip.Addr) class {
	a = a.WithZone("").Unmap()
	c := tableClass(a)
	if a.Is4() {
		return c
	}
	for _, v4 := range embeddedIPv4(a) {
		c = min(c, tableClass(v4))
	}
	return c
}

func tableClass(a netip.Addr) class {
	if slices.Contains(metadataAddrs, a) {
		return metadata
	}
	for _, s := range specialPrefixes {
		if s.prefix.Contains(a) {
			return s.class
		}
	}
	if a.Is6() && !global6.Contains(a) && !nat64.Contains(a) {
		return reserved
	}
	return public
}

// embeddedIPv4 returns the IPv4 addresses embedded in an IPv6 address, for
// example in a 6to4 or NAT64 address. The formats are defined in RFC 4291,
// 2765, 6052, 8215, 3056, 4380 and 5214.
func embeddedIPv4(a netip.Addr) (found []netip.Addr) {
	b := a.As16()
	add := func(w, x, y, z byte) { found = append(found, netip.AddrFrom4([4]byte{w, x, y, z})) }
	switch {
	case a == netip.IPv6Unspecified(), a == netip.IPv6Loopback():
		return nil
	case nat64.Contains(a), compatible.Contains(a), translated.Contains(a):
		add(b[12], b[13], b[14], b[15])
	case nat64Local.Contains(a): // all prefix lengths of RFC 6052 section 2.2 are possible
		add(b[6], b[7], b[9], b[10])
		add(b[7], b[9], b[10], b[11])
		add(b[9], b[10], b[11], b[12])
		add(b[12], b[13], b[14], b[15])
	case sixToFour.Contains(a):
		add(b[2], b[3], b[4], b[5])
	case teredo.Contains(a):
		add(b[4], b[5], b[6], b[7])
		add(^b[12], ^b[13], ^b[14], ^b[15])
	}
	if isISATAP(b) {
		add(b[12], b[13], b[14], b[15])
	}
	return found
}

// isISATAP reports whether an IPv6 address ends in an IPv4 address as defined in
// RFC 5214 section 6.1.
func isISATAP(b [16]byte) bool { return b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe }

// neighbourhood returns the network of a private address: the /24 of an IPv4
// address or the /64 of an IPv6 address. If an IPv6 address ends in an IPv4 address,
// as with NAT64 and ISATAP, it is the /24 of the latter. Servers in the same
// neighbourhood may link to each other.
func neighbourhood(a netip.Addr) netip.Prefix {
	a = a.WithZone("").Unmap()
	bits := 64
	switch {
	case a.Is4():
		bits = 24
	case nat64.Contains(a) || isISATAP(a.As16()):
		bits = 96 + 24
	}
	p, _ := a.Prefix(bits)
	return p
}

// IsPublic reports whether the [Policy] classifies an IP address as public. It
// returns false for the zero Addr.
func IsPublic(a netip.Addr) bool { return a.IsValid() && classOf(a) == public }
