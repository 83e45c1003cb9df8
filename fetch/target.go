package fetch

import (
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/uri"
)

// A Target is the scheme, host and port of a server. The Policy and the driver
// use the same Target, so that they cannot parse a URL differently.
type Target struct {
	Scheme string
	Host   string     // lower-case name, or address without brackets; "" if the scheme has no host
	Addr   netip.Addr // the parsed Host, if it is an address
	Port   uint16     // 0 if the scheme has no ports
}

// Address returns the target as host:port, for Net.DialContext.
func (t Target) Address() string {
	if strings.IndexByte(t.Host, ':') >= 0 {
		return net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port)))
	}
	var buf [64]byte
	return string(strconv.AppendUint(append(append(buf[:0], t.Host...), ':'), uint64(t.Port), 10))
}

// Origin returns the origin for which credentials of the target are valid. Its
// host has no trailing dot.
func (t Target) Origin() Origin {
	return Origin{Scheme: t.Scheme, Host: strings.TrimSuffix(t.Host, "."), Port: t.Port}
}

// TargetOf returns the host and the port of a URL. The parameter port is the
// default port of the scheme. TargetOf rejects hosts that resolvers interpret
// differently. These are invalid host names, numeric hosts that are not dotted
// quads, and IPvFuture literals. If the URL has no host, Target.Host is empty.
func TargetOf(u uri.URI, port uint16) (Target, error) {
	t := Target{Scheme: u.Scheme(), Port: port}
	text, _ := u.Port()
	if err := t.setPort(text); err != nil {
		return Target{}, err
	}
	host := u.Host()
	if addr, ok := u.Addr(); ok {
		t.Addr, t.Host = addr, host // the uri package accepts only one spelling of an IPv4 address
		if u.HostKind() != uri.IPv4 {
			t.Host = addr.String()
		}
		return t, nil
	}
	if strings.HasPrefix(host, "[") {
		return Target{}, BadAddress.With(&Refusal{Rule: "an IP literal of an unknown version cannot be dialled"})
	}
	t.Host = strings.ToLower(host)
	if rule := hostRule(t.Host); rule != "" {
		return Target{}, BadAddress.With(&Refusal{Rule: rule})
	}
	return t, nil
}

// setPort parses a port and stores it in t, unless text is empty. It ignores
// leading zeros. It rejects 0 and numbers above 65535.
func (t *Target) setPort(text string) error {
	if text == "" {
		return nil
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 {
		return BadPort.With(&Refusal{Rule: portRules["range"], Subject: "port " + text[:min(len(text), 20)]})
	}
	t.Port = uint16(n)
	return nil
}

// hostRule checks a host name. It returns a description of the rule that host
// violates, or "" if the name is valid. The host must not be an IP literal.
func hostRule(host string) string {
	name := strings.TrimSuffix(host, ".")
	if name == "" {
		return ""
	}
	if len(name) > 253 {
		return "host name longer than 253 bytes"
	}
	numbers := true
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 {
			return "host name with an empty label or one longer than 63 bytes"
		}
		for i := range len(label) {
			if !isHostByte(label[i]) {
				return "host is not a host name"
			}
		}
		numbers = numbers && isNumber(label)
	}
	if numbers {
		// The C library parses 127.1 and 0x7f.1 as 127.0.0.1. A name in which
		// only the last label is a number is not parsed as an address.
		return "host ends in a number but is not an IPv4 address"
	}
	return ""
}

func isHostByte(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// isNumber reports whether the C library parses a label as a decimal, octal or
// hexadecimal part of an IPv4 address.
func isNumber(label string) bool {
	hex, ok := strings.CutPrefix(label, "0x")
	return containsOnly(label, "0123456789") || ok && containsOnly(hex, "0123456789abcdef")
}

// containsOnly reports whether every byte of s is in set.
func containsOnly(s, set string) bool {
	for i := range len(s) {
		if strings.IndexByte(set, s[i]) < 0 {
			return false
		}
	}
	return true
}
