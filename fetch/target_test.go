package fetch

import (
	"errors"
	"strings"
	"testing"

	"github.com/anyurl/fetch/uri"
)

func TestRareIPv4(t *testing.T) {
	type row struct{ URI string }
	for _, r := range rows[row](t, "rare_ipv4_hosts.jsonl") {
		if r.URI == "http://127.0.0.1./" {
			// With its dot it is still a number to a resolver.
			if _, err := TargetOf(uri.MustParse(r.URI), 80); !errors.Is(err, BadAddress) {
				t.Errorf("%s: got %v", r.URI, err)
			}
			continue
		}
		_, err := TargetOf(uri.MustParse(r.URI), 80)
		var refusal *Refusal
		if !errors.As(err, &refusal) || !errors.Is(err, BadAddress) || !strings.Contains(refusal.Rule, "ends in a number") {
			t.Errorf("%s: got %v, want it refused as a rare IPv4 form", r.URI, err)
		}
	}
}

// TestAttacks takes the rows that parser and target decide; those of the
// drivers are theirs.
func TestAttacks(t *testing.T) {
	type row struct{ URI, Expected string }
	for _, r := range rows[row](t, "uri_attack_cases.jsonl") {
		u, err := uri.ParseZone(r.URI)
		if r.Expected == "invalid" {
			if err == nil {
				t.Errorf("%q: parsed, want it invalid", r.URI)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", r.URI, err)
			continue
		}
		own, _ := uri.DefaultPort(u.Scheme())
		target, err := TargetOf(u, own)
		if err == nil && own != 0 {
			policy := Typed()
			_, err = policy.judge(&Request{URL: u}, &Scheme{Name: u.Scheme(), Port: own}, Origin{})
		}
		want, argument, _ := strings.Cut(r.Expected, " ")
		switch {
		case want == "dial":
			host, _, _ := strings.Cut(argument, " ")
			if host = strings.TrimRight(host, ",;"); err != nil || target.Host != host {
				t.Errorf("%q: got host %q, %v, want %s", r.URI, target.Host, err, r.Expected)
			}
		case r.Expected == "refuse host" && u.Scheme() == "http":
			if !errors.Is(err, BadAddress) {
				t.Errorf("%q: got %v, want the host refused", r.URI, err)
			}
		case r.Expected == "refuse port", r.Expected == "port 25 refuse":
			if !errors.Is(err, BadPort) {
				t.Errorf("%q: got %v, want the port refused", r.URI, err)
			}
		case r.Expected == "port 80":
			if target.Port != 80 {
				t.Errorf("%q: got port %d, want 80", r.URI, target.Port)
			}
		case r.Expected == "no host":
			if target.Host != "" {
				t.Errorf("%q: got host %q, want none", r.URI, target.Host)
			}
		case r.Expected == "typed only":
			if err != nil || target.Addr.Zone() != "eth0" {
				t.Errorf("%q: got %v, %v", r.URI, target, err)
			}
			if _, err := uri.Parse(r.URI); err == nil {
				t.Errorf("%q: a server's URL must not parse with a zone", r.URI)
			}
		}
	}
}

// TestTargets names hosts and ports at the edges.
func TestTargets(t *testing.T) {
	long := strings.Repeat("a", 63)
	for _, c := range []struct {
		url, want string
		fault     Fault
	}{
		{"http://EXAMPLE.com./", "example.com.:80", 0},
		{"http://h:0080/", "h:80", 0},
		{"http://h:00000000000000000000080/", "h:80", 0},
		{"http://h:0/", "", BadPort},
		{"http://h:65536/", "", BadPort},
		{"http://h:18446744073709551617/", "", BadPort}, // would wrap to 1
		{"http://[::1]:8080/", "[::1]:8080", 0},
		{"http://[::ffff:10.0.0.1]/", "[::ffff:10.0.0.1]:80", 0},
		{"http://under_score.example/", "under_score.example:80", 0},
		{"http://" + long + ".example/", long + ".example:80", 0},
		{"http://a" + long + ".example/", "", BadAddress},
		{"http://a..b/", "", BadAddress},
		{"http://a!b/", "", BadAddress},
		{"http://127.0.0.0x1/", "", BadAddress},
		{"http://1.2.3.4.5.0x6/", "", BadAddress},
		{"http://host.example.80/", "host.example.80:80", 0}, // nobody's address
		{"http://0x/", "", BadAddress},
		{"http://1.example/", "1.example:80", 0},
		{"http://example.1a/", "example.1a:80", 0},
	} {
		target, err := TargetOf(uri.MustParse(c.url), 80)
		if c.fault != 0 {
			if !errors.Is(err, c.fault) {
				t.Errorf("%s: got %v, want %v", c.url, err, c.fault)
			}
			continue
		}
		if err != nil || target.Address() != c.want {
			t.Errorf("%s: got %s, %v, want %s", c.url, target.Address(), err, c.want)
		}
	}
}
