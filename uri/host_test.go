package uri

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func TestHost(t *testing.T) {
	for _, c := range []struct {
		in   string // a host
		kind HostKind
		addr string
	}{
		{"", NoHost, ""},
		{"h", RegName, ""},
		{"H.example.", RegName, ""},
		{"%00", RegName, ""},
		{"!$&'()*+,;=", RegName, ""},
		{"127.0.0.1", IPv4, "127.0.0.1"},
		{"255.255.255.255", IPv4, "255.255.255.255"},
		{"0.0.0.0", IPv4, "0.0.0.0"},
		{"256.0.0.1", RegName, ""},
		{"1.2.3", RegName, ""},
		{"1.2.3.4.", RegName, ""},
		{"1.2.3.4.5", RegName, ""},
		{"01.2.3.4", RegName, ""},
		{"1.2.3.00", RegName, ""},
		{"1.2.3.1234", RegName, ""},
		{"1..2.3", RegName, ""},
		{"2130706433", RegName, ""},
		{"0x7f.0.0.1", RegName, ""},
		{"127.0.0.%31", RegName, ""},
		{"[::]", IPv6, "::"},
		{"[::1]", IPv6, "::1"},
		{"[1:2:3:4:5:6:7::]", IPv6, "1:2:3:4:5:6:7:0"},
		{"[::2:3:4:5:6:7:8]", IPv6, "0:2:3:4:5:6:7:8"},
		{"[::FFFF:192.0.2.1]", IPv6, "::ffff:192.0.2.1"},
		{"[fe80::1%25eth0]", IPv6, "fe80::1%eth0"},
		{"[fe80::1%25a%2fB]", IPv6, "fe80::1%a/B"},
		{"[fe80::1%25a%0aB]", IPv6, ""},
		{"[::1%2525]", IPv6, "::1%25"},
		{"[v1.x]", IPvFuture, ""},
		{"[VfE.a:b!]", IPvFuture, ""},
	} {
		u, err := ParseZone("//u@" + c.in + ":8")
		if err != nil || u.Host() != c.in || u.HostKind() != c.kind {
			t.Errorf("host %q: %q, %v, %v; want %v", c.in, u.Host(), u.HostKind(), err, c.kind)
			continue
		}
		addr, ok := u.Addr()
		if ok != (c.addr != "") || ok && addr != netip.MustParseAddr(c.addr) || !ok && addr != (netip.Addr{}) {
			t.Errorf("address of %q: %v, %v; want %q", c.in, addr, ok, c.addr)
		}
	}
}

// TestIPv6Grammar compares isIPv6 with the grammar for every number of groups
// on both sides of "::", with and without an IPv4 suffix.
func TestIPv6Grammar(t *testing.T) {
	re := strictGrammar.production[IPv6Address]
	groups := func(n int, tail string) string {
		list := slices.Repeat([]string{"1"}, n)
		if tail != "" {
			list = append(list, tail)
		}
		return strings.Join(list, ":")
	}
	for _, group := range []string{"0", "Ffff", "00000", "g", "", "1.2.3"} {
		for _, tail := range []string{"", "192.0.2.255", "192.0.2.256", "1.2.3.04", group} {
			for left := range 10 {
				for right := range 10 {
					for _, middle := range []string{":", "::", ":::"} {
						s := groups(left, "") + middle + groups(right, tail)
						s = strings.Replace(s, "1", group, left%3)
						if got, want := isIPv6(s), re.MatchString(s); got != want {
							t.Errorf("isIPv6(%q) = %v", s, got)
						}
					}
				}
			}
		}
	}
}

func TestMalformedZones(t *testing.T) {
	for _, in := range []string{
		"//[fe80::1%eth0]", "//[fe80::1%25]", "//[fe80::1%25eth0:]", "//[fe80::1%25a%2]",
		"//[fe80::1%25a b]", "//[1.2.3.4%25a]", "//[v1.a%25a]", "//[%25a]", "//fe80::1%25a",
	} {
		if u, err := ParseZone(in); err == nil {
			t.Errorf("ParseZone(%q) = %v", in, u)
		}
	}
}

// TestZonesOnlyFromParseZone verifies that only ParseZone accepts a zone, and
// that its result can be resolved, normalized and rebuilt.
func TestZonesOnlyFromParseZone(t *testing.T) {
	const in = "HTTP://[FE80::1%25Eth0]/a"
	if _, err := Parse(in); err == nil {
		t.Error("Parse accepts a zone")
	}
	u, err := ParseZone(in)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := u.Resolve(MustParse("b")); err != nil || got.Unredacted() != "HTTP://[FE80::1%25Eth0]/b" {
		t.Errorf("resolves to %v, %v", got, err)
	}
	if got := u.Normalize(Syntax).Unredacted(); got != "http://[fe80::1%25Eth0]/a" {
		t.Errorf("normalizes to %v", got)
	}
	if got, err := u.WithPath("/c"); err != nil || got.Host() != u.Host() {
		t.Errorf("WithPath: %v, %v", got, err)
	}
	p := u.Parts()
	p.Host = "[fe80::2%25eth0]"
	if got, err := Build(p); err == nil {
		t.Errorf("Build accepts a different zone: %v", got)
	}
	if got, err := Build(Parts{Scheme: "http", Host: "[fe80::1%25eth0]"}); err == nil {
		t.Errorf("Build accepts a zone: %v", got)
	}
}

func TestHostKindString(t *testing.T) {
	seen := map[string]bool{}
	for k := NoHost; k <= IPvFuture+1; k++ {
		if s := k.String(); s == "" || seen[s] {
			t.Errorf("HostKind %d is %q", k, s)
		} else {
			seen[s] = true
		}
	}
}
