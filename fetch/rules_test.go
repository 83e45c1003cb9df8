package fetch_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/uri"
)

// known returns a scheme of this module, or a scheme without data.
func known(name string) fetch.Scheme {
	for _, s := range schemes.All(schemes.Options{}) {
		if s.Name == name {
			return s
		}
	}
	return fetch.Scheme{Name: name, Port: 17}
}

// TestAttacks tests the rows that the URL parser and TargetOf reject. The tests
// of the drivers use the other rows.
func TestAttacks(t *testing.T) {
	type row struct{ URI, Expected string }
	for _, r := range fetch.Rows[row](t, "uri_attack_cases.jsonl") {
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
		own := known(u.Scheme()).Port
		target, err := fetch.TargetOf(u, own)
		if err == nil && own != 0 {
			policy := fetch.Typed()
			err = policy.JudgeTyped(u, known(u.Scheme()))
		}
		want, argument, _ := strings.Cut(r.Expected, " ")
		switch {
		case want == "dial":
			host, _, _ := strings.Cut(argument, " ")
			if host = strings.TrimRight(host, ",;"); err != nil || target.Host != host {
				t.Errorf("%q: got host %q, %v, want %s", r.URI, target.Host, err, r.Expected)
			}
		case r.Expected == "refuse host" && u.Scheme() == "http":
			if !errors.Is(err, fetch.BadAddress) {
				t.Errorf("%q: got %v, want the host refused", r.URI, err)
			}
		case r.Expected == "refuse port", r.Expected == "port 25 refuse":
			if !errors.Is(err, fetch.BadPort) {
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

func TestReferredPorts(t *testing.T) {
	type row struct {
		Scheme   string
		Port     uint64
		Expected string
	}
	var p fetch.Policy
	for _, r := range fetch.Rows[row](t, "port_cases.jsonl") {
		got := "refuse:range"
		u := uri.MustParse(r.Scheme + "://h:" + strconv.FormatUint(r.Port, 10))
		if target, err := fetch.TargetOf(u, 0); err == nil {
			if got = "allow"; p.PortVerdict(known(r.Scheme), target.Port, false) != "" {
				got = "refuse:" + p.PortVerdict(known(r.Scheme), target.Port, false)
			}
		}
		if got != r.Expected {
			t.Errorf("%s port %d: got %s, want %s", r.Scheme, r.Port, got, r.Expected)
		}
	}
}

// TestTypedPorts checks the ports of typed URLs, and the effect of a PortRule.
func TestTypedPorts(t *testing.T) {
	allowed := fetch.Policy{Ports: []fetch.PortRule{{"gopher", 25, false}, {"ftp", 25, true}, {"", 26, false}}}
	for _, c := range []struct {
		scheme string
		port   uint16
		policy fetch.Policy
		typed  bool
		want   string
	}{
		{"http", 81, fetch.Policy{}, true, ""}, // used by old sites
		{"http", 81, fetch.Policy{}, false, "reserved"},
		{"http", 81, fetch.Policy{WebPorts: true}, false, ""},
		{"http", 25, fetch.Policy{}, true, "bad"},
		{"http", 25, fetch.Policy{WebPorts: true}, false, "bad"},
		{"https", 6000, fetch.Policy{}, true, "bad"},
		{"gopher", 25, fetch.Policy{}, true, "reserved"},
		{"gopher", 79, fetch.Policy{}, true, "reserved"},
		{"gopher", 6379, fetch.Policy{}, true, "text-service"},
		{"gopher", 7070, fetch.Policy{}, true, ""},
		{"gopher", 25, allowed, true, ""},
		{"gopher", 25, allowed, false, "reserved"}, // the rule has no :any
		{"ftp", 25, allowed, false, ""},            // the rule has :any
		{"wais", 26, allowed, true, ""},
		{"telnet", 2323, fetch.Policy{}, true, ""},
		{"telnet", 2323, fetch.Policy{}, false, "needs-allow"},
		{"telnet", 6379, fetch.Policy{}, true, "text-service"},
		{"rlogin", 513, fetch.Policy{}, true, ""},
		{"tn3270", 23, fetch.Policy{}, true, ""},
		{"prospero", 1525, fetch.Policy{}, true, ""},
		{"prospero", 5353, fetch.Policy{}, true, "needs-allow"},
		{"snews", 563, fetch.Policy{}, false, ""},
		{"imaps", 993, fetch.Policy{}, false, ""},
		{"gophers", 70, fetch.Policy{}, false, ""},
		{"ftps", 990, fetch.Policy{}, false, ""},
		{"qotd", 17, fetch.Policy{}, true, ""}, // a scheme without data
		{"qotd", 7979, fetch.Policy{}, true, "needs-allow"},
		{"qotd", 7979, fetch.Policy{Ports: []fetch.PortRule{{"qotd", 7979, false}}}, true, ""},
		{"http", 0, fetch.Policy{Ports: []fetch.PortRule{{"http", 0, true}}}, true, "range"},
	} {
		if got := c.policy.PortVerdict(known(c.scheme), c.port, c.typed); got != c.want {
			t.Errorf("%s port %d, typed %v: got %q, want %q", c.scheme, c.port, c.typed, got, c.want)
		}
	}
}

func TestReferrals(t *testing.T) {
	open := fetch.Policy{Redirects: []string{"ftp"}}
	all := fetch.Policy{Redirects: []string{"*"}}
	down := fetch.Policy{Downgrade: true}
	none := fetch.Policy{RedirectsOnly: []string{}}
	web := fetch.Policy{RedirectsOnly: []string{"http", "https"}}
	for _, c := range []struct {
		policy   fetch.Policy
		from, to string
		ok       bool
	}{
		{fetch.Policy{}, "http://a/", "http://b/", true},
		{fetch.Policy{}, "http://a/", "https://b/", true},
		{fetch.Policy{}, "http://a/", "ftp://b/", true},
		{fetch.Policy{}, "http://a/", "ftps://b/", true},
		{fetch.Policy{}, "https://a/", "ftp://b/", false},
		{fetch.Policy{}, "https://a/", "ftps://b/", false},
		{open, "https://a/", "ftp://b/", true},
		{web, "http://a/", "ftp://b/", false},
		{fetch.Policy{}, "http://a/", "gopher://b/", false},
		{fetch.Policy{}, "http://a/", "imap://b/", false},
		{fetch.Policy{}, "http://a/", "file:///etc/passwd", false},
		{all, "http://a/", "gopher://b/", true},
		{all, "http://a/", "file:///etc/passwd", false}, // no Policy allows it
		{all, "https://a/", "telnet://b/", false},
		{all, "gopher://a/", "imap://b/", false},
		{fetch.Policy{}, "https://a/", "http://a/", false},
		{down, "https://a/", "http://a/", true},
		{fetch.Policy{}, "gopher://a/", "http://b/", true},
		{fetch.Policy{}, "gopher://a/", "ftp://b/", false},
		{fetch.Policy{}, "gopher://a/", "telnet://b/", false},
		{fetch.Policy{}, "file:///a", "file:///b", true},
		{fetch.Policy{}, "file:///a", "http://b/", false},
		{fetch.Policy{}, "prospero://a/x", "ftp://b/x", true},
		{fetch.Policy{}, "prospero://a/x", "ftp://b:2121/x", false}, // only the default port is allowed
		{fetch.Policy{}, "prospero://a/x", "wais://b/x", true},
		{fetch.Policy{}, "prospero://a/x", "telnet://b/", false},
		{none, "http://a/", "http://b/", false},
		{fetch.Policy{}, "x://a/", "http://b/", false}, // a scheme without data
		{all, "x://a/", "http://b/", true},
	} {
		from, to := uri.MustParse(c.from), uri.MustParse(c.to)
		target, err := fetch.TargetOf(to, known(to.Scheme()).Port)
		if err != nil {
			t.Fatal(err)
		}
		err = c.policy.JudgeReferral(known(from.Scheme()), known(to.Scheme()), target.Port)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, fetch.BadReferral) {
			t.Errorf("%s to %s: got %v, want ok %v", c.from, c.to, err, c.ok)
		}
	}
}

// TestCallerScheme checks that a scheme of the caller cannot allow links from
// its documents to confined schemes, or from other schemes to itself.
func TestCallerScheme(t *testing.T) {
	all := schemes.All(schemes.Options{})
	mine := fetch.Scheme{Name: "mine", Port: 79}
	for _, s := range all {
		mine.Links.To = append(mine.Links.To, s.Name)
	}
	mine.Links.Downgrade = mine.Links.To
	open := fetch.Policy{Redirects: []string{"*", "file"}, Downgrade: true}
	for _, s := range all {
		if err := open.JudgeReferral(mine, s, s.Port); (err != nil) != s.Links.Confined {
			t.Errorf("mine to %s: got %v, confined %v", s.Name, err, s.Links.Confined)
		}
		if err := new(fetch.Policy).JudgeReferral(s, mine, mine.Port); err == nil {
			t.Errorf("%s to mine: allowed", s.Name)
		}
		local := fetch.Scheme{Name: "mine", Local: true, Links: scheme.Links{To: []string{"mine"}}}
		if err := open.JudgeReferral(s, local, 0); err == nil {
			t.Errorf("%s to mine, which is local: allowed", s.Name)
		}
	}
}

// TestUnknownPage checks that no link is allowed in a page whose scheme the
// Client does not have.
func TestUnknownPage(t *testing.T) {
	client := fetch.New(fetch.Options{}, known("gopher"))
	defer client.Close()
	for from, want := range map[string]string{"http://8.8.8.8/": "http to gopher", "x:y": "x to gopher"} {
		req := &fetch.Request{URL: uri.MustParse("gopher://8.8.8.8/"), From: &fetch.Source{URL: uri.MustParse(from)}}
		_, err := client.Do(t.Context(), req)
		var refusal *fetch.Refusal
		if !errors.As(err, &refusal) || refusal.Subject != want {
			t.Errorf("from %s: got %v, want a refusal of %s", from, err, want)
		}
	}
}
