package fetch

import (
	"bufio"
	"encoding/json"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/anyurl/fetch/uri"
)

// rows reads a file of testdata.
func rows[T any](t *testing.T, name string) (all []T) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var row T
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		all = append(all, row)
	}
	if len(all) == 0 {
		t.Fatalf("%s is empty", name)
	}
	return all
}

func TestReferredPorts(t *testing.T) {
	type row struct {
		Scheme   string
		Port     uint64
		Expected string
	}
	var p Policy
	for _, r := range rows[row](t, "port_cases.jsonl") {
		got := "refuse:range"
		target := Target{}
		if target.setPort(strconv.FormatUint(r.Port, 10)) == nil {
			own, _ := uri.DefaultPort(r.Scheme)
			rule, _ := p.portVerdict(r.Scheme, own, target.Port, false)
			if got = "allow"; rule != "" {
				got = "refuse:" + rule
			}
		}
		if got != r.Expected {
			t.Errorf("%s port %d: got %s, want %s", r.Scheme, r.Port, got, r.Expected)
		}
	}
}

// TestTypedPorts holds what a person may type, and what a rule of theirs
// changes.
func TestTypedPorts(t *testing.T) {
	allowed := Policy{Ports: []PortRule{{"gopher", 25, false}, {"ftp", 25, true}, {"", 26, false}}}
	for _, c := range []struct {
		scheme string
		port   uint16
		policy Policy
		typed  bool
		want   string
	}{
		{"http", 81, Policy{}, true, ""}, // an old site is no attack
		{"http", 81, Policy{}, false, "reserved"},
		{"http", 81, Policy{WebPorts: true}, false, ""},
		{"http", 25, Policy{}, true, "bad"},
		{"http", 25, Policy{WebPorts: true}, false, "bad"},
		{"https", 6000, Policy{}, true, "bad"},
		{"gopher", 25, Policy{}, true, "reserved"},
		{"gopher", 79, Policy{}, true, "reserved"},
		{"gopher", 6379, Policy{}, true, "text-service"},
		{"gopher", 7070, Policy{}, true, ""},
		{"gopher", 25, allowed, true, ""},
		{"gopher", 25, allowed, false, "reserved"}, // never what a server supplied
		{"ftp", 25, allowed, false, ""},            // but with :any
		{"wais", 26, allowed, true, ""},
		{"telnet", 2323, Policy{}, true, ""},
		{"telnet", 2323, Policy{}, false, "needs-allow"},
		{"telnet", 6379, Policy{}, true, "text-service"},
		{"rlogin", 513, Policy{}, true, ""},
		{"tn3270", 23, Policy{}, true, ""},
		{"prospero", 1525, Policy{}, true, ""},
		{"prospero", 5353, Policy{}, true, "needs-allow"},
		{"snews", 563, Policy{}, false, ""},
		{"imaps", 993, Policy{}, false, ""},
		{"gophers", 70, Policy{}, false, ""},
		{"ftps", 990, Policy{}, false, ""},
		{"finger", 79, Policy{}, true, ""}, // a scheme of somebody else's
		{"finger", 11211, Policy{}, true, "text-service"},
		{"http", 0, Policy{Ports: []PortRule{{"http", 0, true}}}, true, "range"},
	} {
		own, ok := uri.DefaultPort(c.scheme)
		if !ok {
			own = map[string]uint16{"finger": 79, "rlogin": 513, "tn3270": 23, "snews": 563, "imaps": 993, "gophers": 70, "ftps": 990}[c.scheme]
		}
		if got, _ := c.policy.portVerdict(c.scheme, own, c.port, c.typed); got != c.want {
			t.Errorf("%s port %d, typed %v: got %q, want %q", c.scheme, c.port, c.typed, got, c.want)
		}
	}
}

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
	for _, text := range []string{"", "http:", "http:0", "http:65536", "x:y:z", ":any"} {
		if got, err := ParsePortRule(text); !errors.Is(err, Usage) {
			t.Errorf("%s: got %v, %v, want a usage error", text, got, err)
		}
	}
}

func TestAddressClasses(t *testing.T) {
	type row struct{ Addr, Class string }
	for _, r := range rows[row](t, "address_cases.jsonl") {
		c := classOf(netip.MustParseAddr(r.Addr))
		got := "deny"
		switch c {
		case public:
			got = "public"
		case metadata:
			got = "metadata"
		}
		if r.Addr == "2001::5601:5601" {
			// Teredo hides 169.254.169.254 in it inverted: not even typed.
			r.Class = "metadata"
		}
		if want, _, _ := strings.Cut(r.Class, "-"); got != want {
			t.Errorf("%s: got %s (%s), want %s", r.Addr, got, c, r.Class)
		}
	}
}

// TestReach holds every class against every preset, typed and referred.
func TestReach(t *testing.T) {
	page := func(addr string) *grant {
		g := &grant{}
		if addr != "" {
			g.from(netip.MustParseAddr(addr))
		} else {
			g.from(netip.Addr{})
		}
		return g
	}
	typedPolicy, list := Typed(), Allowlist("10.0.0.0/8", "ok.example", "*.ok.example")
	override := Typed()
	override.Addresses = []netip.Prefix{netip.MustParsePrefix("169.254.169.254/32")}
	for _, c := range []struct {
		name   string
		policy Policy
		from   string // "typed", or the address of the page; "" is unknown
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
		{"ula to the same /64", typedPolicy, "fd00::1", "h", "fd00::2", true},
		{"ula to another /64", typedPolicy, "fd00::1", "h", "fd00:0:0:1::2", false},
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
		err := c.policy.judgeAddr(g, Target{Scheme: "http", Host: c.host, Port: 80}, netip.MustParseAddr(c.addr))
		if (err == nil) != c.ok || err != nil && !errors.Is(err, BadAddress) {
			t.Errorf("%s: %q to %s: got %v, want ok %v", c.name, c.from, c.addr, err, c.ok)
		}
	}
}

// TestLocalTextServices: a redirect on this machine does not reach its Redis,
// though on the public network that port may be the Web's.
// Behind a proxy a page has no peer; an address that its URL spells is known
// all the same.
func TestSourceBehindProxy(t *testing.T) {
	p := Typed()
	s := &Scheme{Name: "http", Port: 80}
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
		if _, err := p.judge(req, s, originOf(req.From.URL, s)); (err == nil) != c.ok {
			t.Errorf("%s to %s: %v", c.from, c.to, err)
		}
	}
}

func TestLocalTextServices(t *testing.T) {
	g := &grant{}
	g.from(netip.MustParseAddr("127.0.0.1"))
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
		err := c.policy.judgeAddr(g, Target{Scheme: "http", Host: c.addr, Port: c.port}, netip.MustParseAddr(c.addr))
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
		{Typed(), "metadata.google.internal.", false, false},
		{Public(), "metadata.google.internal", true, false},
		{Public(), "instance-data", true, false},
		{Allowlist("a.example"), "b.example", true, false},
		{Allowlist("a.example"), "A.example", true, true},
		{Allowlist("*.a.EXAMPLE"), "b.A.example.", true, true},
		{Allowlist("*.a.example"), "a.example", true, false},
		{Allowlist("*a.example"), "not-a.example", true, false}, // no pattern of ours
		{Allowlist("*"), "b.example", true, false},
		{Allowlist("10.0.0.0/8"), "b.example", true, true}, // its address decides
	} {
		if err := c.policy.judgeName(strings.ToLower(c.host), c.typed); (err == nil) != c.ok {
			t.Errorf("%s, typed %v: got %v, want ok %v", c.host, c.typed, err, c.ok)
		}
	}
}

func TestReferrals(t *testing.T) {
	open := Policy{Redirects: []string{"ftp"}}
	all := Policy{Redirects: []string{"*"}}
	down := Policy{Downgrade: true}
	none := Policy{Only: []string{}}
	web := Policy{Only: []string{"http", "https"}}
	for _, c := range []struct {
		policy   Policy
		from, to string
		ok       bool
	}{
		{Policy{}, "http://a/", "http://b/", true},
		{Policy{}, "http://a/", "https://b/", true},
		{Policy{}, "http://a/", "ftp://b/", true},
		{Policy{}, "http://a/", "ftps://b/", true},
		{Policy{}, "https://a/", "ftp://b/", false},
		{Policy{}, "https://a/", "ftps://b/", false},
		{open, "https://a/", "ftp://b/", true},
		{web, "http://a/", "ftp://b/", false},
		{Policy{}, "http://a/", "gopher://b/", false},
		{Policy{}, "http://a/", "imap://b/", false},
		{Policy{}, "http://a/", "file:///etc/passwd", false},
		{all, "http://a/", "gopher://b/", true},
		{all, "http://a/", "file:///etc/passwd", false}, // never
		{all, "https://a/", "telnet://b/", false},
		{all, "gopher://a/", "imap://b/", false},
		{Policy{}, "https://a/", "http://a/", false},
		{down, "https://a/", "http://a/", true},
		{Policy{}, "gopher://a/", "http://b/", true},
		{Policy{}, "gopher://a/", "ftp://b/", false},
		{Policy{}, "gopher://a/", "telnet://b/", false},
		{Policy{}, "file:///a", "file:///b", true},
		{Policy{}, "file:///a", "http://b/", false},
		{Policy{}, "prospero://a/x", "ftp://b/x", true},
		{Policy{}, "prospero://a/x", "ftp://b:2121/x", false}, // default port alone
		{Policy{}, "prospero://a/x", "wais://b/x", true},
		{Policy{}, "prospero://a/x", "telnet://b/", false},
		{none, "http://a/", "http://b/", false},
	} {
		from, to := uri.MustParse(c.from), uri.MustParse(c.to)
		own, _ := uri.DefaultPort(to.Scheme())
		target, err := TargetOf(to, own)
		if err != nil {
			t.Fatal(err)
		}
		err = c.policy.judgeReferral(from, to, target.Port, own)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, BadReferral) {
			t.Errorf("%s to %s: got %v, want ok %v", c.from, c.to, err, c.ok)
		}
	}
}
