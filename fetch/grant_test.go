package fetch

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/uri"
)

// TestOwnLinks checks that a page may lead to its own host and port where a
// typed URL may, and that only pages of this machine may lead to localhost.
func TestOwnLinks(t *testing.T) {
	loopback, public, link := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("8.8.8.8"), netip.MustParseAddr("fe80::1")
	metadata := Typed()
	metadata.Addresses = []netip.Prefix{netip.MustParsePrefix("169.254.169.254/32")}
	smtp := Typed()
	smtp.Ports = []PortRule{{Scheme: "gopher", Port: 25}}
	for _, c := range []struct {
		name, from, to string
		peer           netip.Addr
		policy         Policy
		fault          Fault
	}{
		{"same name", "http://localhost/", "http://localhost/a", loopback, Typed(), 0},
		{"same name, another spelling", "http://localhost/", "http://LOCALHOST.:80/a", loopback, Typed(), 0},
		{"same subdomain", "http://app.localhost:8080/", "http://app.localhost:8080/a", loopback, Typed(), 0},
		{"gopher", "gopher://localhost:7070/", "gopher://localhost:7070/0a", loopback, Typed(), 0},
		{"ftp", "ftp://localhost/", "ftp://localhost/a", loopback, Typed(), 0},
		{"newsgroup and its articles", "nntps://localhost/local.test", "snews://localhost/a@b", loopback, Typed(), 0},
		{"wais", "wais://localhost/db?x", "wais://localhost/db/TEXT/1/1", loopback, Typed(), 0},
		{"prospero", "prospero://localhost/a", "prospero://localhost/a/b", loopback, Typed(), 0},
		{"another port", "http://localhost:8080/", "http://localhost:9090/", loopback, Typed(), 0},
		{"another scheme", "http://localhost:8080/", "ftp://localhost/", loopback, Typed(), 0},
		{"another spelling", "http://127.0.0.1:8080/", "http://localhost:8080/", loopback, Typed(), 0},
		{"subdomain of the host", "http://localhost:8080/", "http://a.localhost:8080/", loopback, Typed(), 0},
		{"text service of this machine", "http://127.0.0.1:8080/", "http://localhost:6379/", loopback, Typed(), BadPort},
		{"metadata service by name", "http://127.0.0.1:8080/", "http://metadata/", loopback, Typed(), BadAddress},
		{"page in a private network", "http://10.0.0.1/", "http://localhost/", netip.MustParseAddr("10.0.0.1"), Typed(), BadAddress},
		{"public page", "http://page.example/", "http://localhost/", public, Typed(), BadAddress},
		{"page with a false peer", "http://localhost/", "http://localhost/a", public, Typed(), BadAddress},
		{"strangers", "http://localhost/", "http://localhost/a", loopback, Public(), BadAddress},

		{"host named metadata", "http://metadata/", "http://metadata/a", netip.MustParseAddr("10.0.0.1"), Typed(), 0},
		{"metadata service", "http://metadata.google.internal/", "http://metadata.google.internal/a", netip.MustParseAddr("169.254.169.254"), metadata, BadAddress},

		{"same zone", "http://[fe80::1%25eth0]/", "http://[fe80::1%25eth0]/a", link, Typed(), 0},
		{"another zone", "http://[fe80::1%25eth0]/", "http://[fe80::1%25eth1]/a", link, Typed(), BadAddress},

		{"an old port of the Web", "http://page.example:81/", "http://page.example:81/a", public, Typed(), 0},
		{"port of another host", "http://page.example/", "http://page.example:81/a", public, Typed(), BadPort},
		{"port of a text service", "http://127.0.0.1:9000/", "http://127.0.0.1:9000/a", loopback, Typed(), 0},
		{"port of another page", "http://127.0.0.1:8080/", "http://127.0.0.1:9000/a", loopback, Typed(), BadPort},
		{"a port that no URL may reach", "http://page.example:25/", "http://page.example:25/a", public, Typed(), BadPort},
		{"port that a rule without :any allows", "gopher://page.example:25/", "gopher://page.example:25/0a", public, smtp, BadPort},
	} {
		r := &recorder{}
		answers := names{"localhost": {"127.0.0.1"}, "a.localhost": {"127.0.0.1"}, "page.example": {"8.8.8.8"}, "metadata": {"10.0.0.1"}, "metadata.google.internal": {"169.254.169.254"}}
		var schemes []Scheme
		for name, port := range map[string]uint16{"http": 80, "gopher": 70, "ftp": 21, "nntps": 563, "snews": 563, "wais": 210, "prospero": 1525} {
			schemes = append(schemes, pageOf(name, port, func(_ *Request, resp *Response) { text(resp, "") }))
		}
		client := New(Options{Policy: c.policy, Dial: r.dial, Resolver: answers}, schemes...)
		from, err := ParseURL(c.from)
		to, err2 := ParseURL(c.to)
		if err = errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(t.Context(), &Request{URL: to, From: &Source{URL: from, Peer: c.peer}})
		if FaultOf(err) != c.fault || (r.addresses() == "") != (err != nil) {
			t.Errorf("%s: %s to %s: got %v, dialled %q, want %v", c.name, c.from, c.to, err, r.addresses(), c.fault)
		}
		if err == nil {
			resp.Body.Close()
		}
		client.Close()
	}
}

// TestUnusualPort checks that an unusual port is noted once per Client, and
// never if a PortRule allows it.
func TestUnusualPort(t *testing.T) {
	for _, c := range []struct {
		name, url string
		rules     []PortRule
		want      int
	}{
		{"usual", "http://8.8.8.8:8080/", nil, 0},
		{"unusual", "http://8.8.8.8:81/", nil, 1},
		{"allowed", "http://8.8.8.8:81/", []PortRule{{"http", 81, false}}, 0},
		{"allowed, though it is another service's", "http://8.8.8.8:25/", []PortRule{{"", 25, false}}, 0},
	} {
		policy := Typed()
		policy.Ports = c.rules
		client := New(Options{Policy: policy, Dial: (&recorder{}).dial}, page(func(_ *Request, resp *Response) { text(resp, "") }))
		heard := 0
		for _, trace := range []*trace.Trace{nil, {}, {Note: func(string) { heard++ }}, {Note: func(string) { heard++ }}} {
			if _, err := client.Do(t.Context(), &Request{URL: uri.MustParse(c.url), Trace: trace}); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		client.Close()
		if heard != c.want {
			t.Errorf("%s: %d notes, want %d", c.name, heard, c.want)
		}
	}
}
