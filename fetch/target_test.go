package fetch

import (
	"errors"
	"strings"
	"testing"

	"github.com/anyurl/fetch/uri"
)

func TestNumericHosts(t *testing.T) {
	type row struct{ URI string }
	for _, r := range Rows[row](t, "rare_ipv4_hosts.jsonl") {
		if r.URI == "http://127.0.0.1./" {
			// Resolvers ignore the trailing dot of a number.
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

// TestTargets checks the limits of hosts and ports.
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
		{"http://h:18446744073709551617/", "", BadPort}, // would overflow to 1
		{"http://[::1]:8080/", "[::1]:8080", 0},
		{"http://[::ffff:10.0.0.1]/", "[::ffff:10.0.0.1]:80", 0},
		{"http://under_score.example/", "under_score.example:80", 0},
		{"http://" + long + ".example/", long + ".example:80", 0},
		{"http://a" + long + ".example/", "", BadAddress},
		{"http://a..b/", "", BadAddress},
		{"http://a!b/", "", BadAddress},
		{"http://127.0.0.0x1/", "", BadAddress},
		{"http://1.2.3.4.5.0x6/", "", BadAddress},
		{"http://host.example.80/", "host.example.80:80", 0}, // resolvers do not read it as an address
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
