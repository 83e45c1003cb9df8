package fetch

import (
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/uri"
)

// A Target is the party that a URL names, read once and used by both the
// Policy and the driver, so that the two cannot differ.
type Target struct {
	Scheme string
	Host   string     // name in lower case, or address without brackets; "" for schemes without one
	Addr   netip.Addr // where Host is an address
	Port   uint16     // 0: the scheme has none
}

// Address is host:port as Net.DialContext takes it.
func (t Target) Address() string {
	if strings.IndexByte(t.Host, ':') >= 0 {
		return net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port)))
	}
	var buf [64]byte
	return string(strconv.AppendUint(append(append(buf[:0], t.Host...), ':'), uint64(t.Port), 10))
}

// Origin is the party that credentials for t are bound to: its host has no
// trailing dot.
func (t Target) Origin() Origin {
	return Origin{Scheme: t.Scheme, Host: strings.TrimSuffix(t.Host, "."), Port: t.Port}
}

// TargetOf reads the target of u, a URL whose scheme has the given default
// port. Hosts that resolvers read in more than one way are refused: what is
// not a host name, numbers that are no dotted quad, an IPvFuture literal. An
// absent host gives a Target without one.
func TargetOf(u uri.URI, port uint16) (Target, error) {
	t := Target{Scheme: u.Scheme(), Port: port}
	text, _ := u.Port()
	if err := t.setPort(text); err != nil {
		return Target{}, err
	}
	host := u.Host()
	if addr, ok := u.Addr(); ok {
		t.Addr, t.Host = addr, host // an IPv4 address can be written in one way
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

// setPort keeps the default for an absent or empty port. Leading zeros carry
// no value; a number that does not fit is refused and never wrapped.
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

// badHost says why host, not an address, cannot be a name on the network. It
// returns "" where it can.
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
		// Of 127.1 and 0x7f.1 the C library makes 127.0.0.1; of a name that
		// ends in a number behind other labels nobody makes an address.
		return "host ends in a number but is not an IPv4 address"
	}
	return ""
}

func isHostByte(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// number reports whether a resolver of the C library would read label as a
// part of an address: decimal, octal or hexadecimal.
func isNumber(label string) bool {
	hex, ok := strings.CutPrefix(label, "0x")
	return containsOnly(label, "0123456789") || ok && containsOnly(hex, "0123456789abcdef")
}

// consists reports whether each byte of s is one of set.
func containsOnly(s, set string) bool {
	for i := range len(s) {
		if strings.IndexByte(set, s[i]) < 0 {
			return false
		}
	}
	return true
}
