package fetch

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/uri"
)

func TestParsePortRule(t *testing.T) {
	for text, want := range map[string]PortRule{
		"gopher:7070": {"gopher", 7070, false},
		"25":          {"", 25, false},
		"HTTP:25:any": {"http", 25, true},
	} {
		if got, err := ParsePortRule(text); err != nil || got != want {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "http:", "http:0", "http:65536", "x:y:z", ":any", "*:25", ":25"} {
		if got, err := ParsePortRule(text); !errors.Is(err, Usage) {
			t.Errorf("%s: got %v, %v, want a usage error", text, got, err)
		}
	}
}

func TestParseAddressRule(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.1":            "10.0.0.1/32",
		"10.0.0.1/8":          "10.0.0.0/8",
		"::ffff:10.0.0.1":     "10.0.0.1/32",
		"::ffff:10.0.0.0/104": "10.0.0.0/8",
		"::ffff:0:0/95":       "::fffe:0:0/95",
		"2001:db8::/32":       "2001:db8::/32",
	} {
		if got, err := ParseAddressRule(text); err != nil || got.String() != want {
			t.Errorf("%s: got %v, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "a.example", "10.0.0.0/33"} {
		if got, err := ParseAddressRule(text); !errors.Is(err, Usage) {
			t.Errorf("%s: got %v, %v, want a usage error", text, got, err)
		}
	}
}

func TestAddressClasses(t *testing.T) {
	type row struct{ Addr, Class string }
	for _, r := range Rows[row](t, "address_cases.jsonl") {
		c := classOf(netip.MustParseAddr(r.Addr))
		got := "deny"
		switch c {
		case public:
			got = "public"
		case metadata:
			got = "metadata"
		}
		if r.Addr == "2001::5601:5601" {
			// A Teredo address contains 169.254.169.254 inverted. It is blocked
			// in typed URLs too.
			r.Class = "metadata"
		}
		if want, _, _ := strings.Cut(r.Class, "-"); got != want {
			t.Errorf("%s: got %s (%s), want %s", r.Addr, got, c, r.Class)
		}
	}
}

// TestReach checks every class of address under every preset Policy.
func TestReach(t *testing.T) {
	page := func(addr string) *grant {
		g := &grant{}
		if addr != "" {
			g.setPage(netip.MustParseAddr(addr))
		} else {
			g.setPage(netip.Addr{})
		}
		return g
	}
	typedPolicy, list := Typed(), Allowlist("10.0.0.0/8", "ok.example", "*.ok.example")
	override := Typed()
	override.Addresses = []netip.Prefix{netip.MustParsePrefix("169.254.169.254/32")}
	for _, c := range []struct {
		name   string
		policy Policy
		from   string // "typed", or the address of the page, or "" if that is unknown
		host   string
		addr   string
		ok     bool
	}{
		{"public", Public(), "typed", "h", "8.8.8.8", true},
		{"public", Public(), "typed", "h", "127.0.0.1", false},
		{"public", Public(), "127.0.0.1", "h", "127.0.0.1", false},
		{"typed anywhere", typedPolicy, "typed", "h", "127.0.0.1", true},
		{"typed anywhere", typedPolicy, "typed", "h", "192.0.2.1", true},
		{"typed metadata", typedPolicy, "typed", "h", "169.254.169.254", false},
		{"typed metadata", typedPolicy, "typed", "h", "64:ff9b::a9fe:a9fe", false},
		{"metadata by override", override, "typed", "h", "169.254.169.254", true},
		{"override is not for servers", override, "8.8.8.8", "h", "169.254.169.254", false},
		{"public to private", typedPolicy, "8.8.8.8", "h", "10.0.0.1", false},
		{"public to loopback", typedPolicy, "8.8.8.8", "h", "127.0.0.1", false},
		{"public to public", typedPolicy, "8.8.8.8", "h", "1.1.1.1", true},
		{"unknown counts as public", typedPolicy, "", "h", "127.0.0.1", false},
		{"private to the same /24", typedPolicy, "10.1.2.3", "h", "10.1.2.200", true},
		{"private to another /24", typedPolicy, "10.1.2.3", "h", "10.1.3.1", false},
		{"private to loopback", typedPolicy, "10.1.2.3", "h", "127.0.0.1", false},
		{"private to public", typedPolicy, "10.1.2.3", "h", "8.8.8.8", true},
		{"loopback to loopback", typedPolicy, "127.0.0.1", "h", "127.0.0.2", true},
		{"loopback to private", typedPolicy, "::1", "h", "10.0.0.1", true},
		{"loopback to metadata", typedPolicy, "::1", "h", "169.254.169.254", false},
		{"loopback to reserved", typedPolicy, "::1", "h", "224.0.0.1", false},
		{"reserved to loopback", typedPolicy, "198.18.0.7", "h", "127.0.0.1", false},
		{"reserved to private", typedPolicy, "203.0.113.7", "h", "10.0.0.1", false},
		{"reserved to public", typedPolicy, "198.18.0.7", "h", "8.8.8.8", true},
		{"metadata to loopback", override, "169.254.169.254", "h", "127.0.0.1", false},
		{"metadata to metadata", override, "169.254.169.254", "h", "169.254.169.254", false},
		{"link-local to private", typedPolicy, "169.254.1.2", "h", "10.0.0.1", false},
		{"link-local to the same /24", typedPolicy, "169.254.1.2", "h", "169.254.1.3", true},
		{"link-local to public", typedPolicy, "169.254.1.2", "h", "8.8.8.8", true},
		{"ula to the same /64", typedPolicy, "fd00::1", "h", "fd00::2", true},
		{"ula to another /64", typedPolicy, "fd00::1", "h", "fd00:0:0:1::2", false},
		{"NAT64 to the same /24", typedPolicy, "64:ff9b::10.1.2.3", "h", "64:ff9b::10.1.2.200", true},
		{"NAT64 to another private network", typedPolicy, "64:ff9b::10.1.2.3", "h", "64:ff9b::192.168.7.7", false},
		{"ISATAP to the same /24", typedPolicy, "fd00::5efe:10.1.2.3", "h", "fd00::5efe:10.1.2.200", true},
		{"ISATAP to another private network", typedPolicy, "fd00::5efe:10.1.2.3", "h", "fd00::5efe:192.168.7.7", false},
		{"ula to ISATAP in the same /64", typedPolicy, "fd00::1", "h", "fd00::5efe:192.168.7.7", false},
		{"zone typed", typedPolicy, "typed", "h", "fe80::1%eth0", true},
		{"zone of a server", typedPolicy, "fe80::2", "h", "fe80::1%eth0", false},
		{"listed prefix", list, "typed", "10.1.1.1", "10.1.1.1", true},
		{"listed prefix", list, "8.8.8.8", "x", "10.1.1.1", true},
		{"listed name", list, "typed", "ok.example", "127.0.0.1", true},
		{"listed suffix", list, "typed", "a.ok.example", "127.0.0.1", true},
		{"listed is not public", list, "typed", "x", "8.8.8.8", false},
		{"listed metadata", list, "typed", "ok.example", "169.254.169.254", false},
	} {
		g := page(strings.TrimPrefix(c.from, "typed"))
		g.typed = c.from == "typed"
		err := c.policy.checkAddr(g, Target{Scheme: "http", Host: c.host, Port: 80}, netip.MustParseAddr(c.addr))
		if (err == nil) != c.ok || err != nil && !errors.Is(err, BadAddress) {
			t.Errorf("%s: %q to %s: got %v, want ok %v", c.name, c.from, c.addr, err, c.ok)
		}
	}
}

// TestSourceThroughProxy checks a page without a peer, because it used a proxy.
// The Policy then uses the address in the URL of the page.
func TestSourceThroughProxy(t *testing.T) {
	p := Typed()
	s := &Scheme{Name: "http", Port: 80, Ports: scheme.Ports{Class: scheme.WebPorts}, Links: scheme.Links{To: []string{"http"}}}
	for _, c := range []struct {
		from, to string
		ok       bool
	}{
		{"http://127.0.0.1:8080/a", "http://127.0.0.1:8080/b", true},
		{"http://127.0.0.1:8080/a", "http://127.0.0.1:6379/", false},
		{"http://10.1.2.3/a", "http://10.1.2.4/", true},
		{"http://10.1.2.3/a", "http://10.9.9.9/", false},
		{"http://h/a", "http://127.0.0.1:8080/b", false},
	} {
		req := &Request{URL: uri.MustParse(c.to), From: &Source{URL: uri.MustParse(c.from)}}
		if _, err := p.authorize(req, s, s, originOf(req.From.URL, s)); (err == nil) != c.ok {
			t.Errorf("%s to %s: %v", c.from, c.to, err)
		}
	}
}

// TestLocalTextServices checks that a redirect on this machine cannot reach a
// local Redis. On a public host, the same port is allowed.
func TestLocalTextServices(t *testing.T) {
	g := &grant{}
	g.setPage(netip.MustParseAddr("127.0.0.1"))
	typed, allowed := Typed(), Typed()
	allowed.Ports = []PortRule{{"http", 6379, true}}
	for _, c := range []struct {
		policy Policy
		addr   string
		port   uint16
		ok     bool
	}{
		{typed, "127.0.0.1", 6379, false},
		{typed, "127.0.0.1", 8080, true},
		{typed, "8.8.8.8", 6379, true},
		{allowed, "127.0.0.1", 6379, true},
	} {
		err := c.policy.checkAddr(g, Target{Scheme: "http", Host: c.addr, Port: c.port}, netip.MustParseAddr(c.addr))
		if (err == nil) != c.ok || err != nil && !errors.Is(err, BadPort) {
			t.Errorf("%s port %d: got %v, want ok %v", c.addr, c.port, err, c.ok)
		}
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		policy Policy
		host   string
		typed  bool
		ok     bool
	}{
		{Typed(), "localhost", true, true},
		{Typed(), "localhost", false, false},
		{Typed(), "a.localhost.", false, false},
		{Typed(), "localhost.localdomain", false, false},
		{Typed(), "localhost6.localdomain6", false, false},
		{Typed(), "localhost4", false, false},
		{Typed(), "ip6-localhost", false, false},
		{Typed(), "IP6-Loopback.", false, false},
		{Typed(), "ip6-localhost", true, true},
		{Typed(), "localhosts.example", false, true},
		{Typed(), "metadata.google.internal.", false, false},
		{Public(), "metadata.google.internal", true, false},
		{Public(), "instance-data", true, false},
		{Allowlist("a.example"), "b.example", true, false},
		{Allowlist("a.example"), "A.example", true, true},
		{Allowlist("*.a.EXAMPLE"), "b.A.example.", true, true},
		{Allowlist("*.a.example"), "a.example", true, false},
		{Allowlist("*a.example"), "not-a.example", true, false}, // the pattern is invalid
		{Allowlist("*"), "b.example", true, false},
		{Allowlist("10.0.0.0/8"), "b.example", true, true}, // the address must match
	} {
		if err := c.policy.checkName(strings.ToLower(c.host), c.typed, false); (err == nil) != c.ok {
			t.Errorf("%s, typed %v: got %v, want ok %v", c.host, c.typed, err, c.ok)
		}
	}
}
