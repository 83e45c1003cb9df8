package fetch

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/anyurl/fetch/uri"
)

// TestMetadataServices checks that metadata services are blocked under every
// name and in every form of their addresses, unless the user allows the
// address.
func TestMetadataServices(t *testing.T) {
	for _, service := range []string{"fd20:ce::254", "169.254.42.42", "169.254.0.23", "fe80::a9fe:a9fe", "fe80::a9fe:a9fe%eth0"} {
		for _, form := range formsOf(netip.MustParseAddr(service)) {
			literal := form.String()
			if form.Is6() {
				literal = "[" + strings.Replace(literal, "%", "%25", 1) + "]"
			}
			allowed := Typed()
			allowed.Addresses = []netip.Prefix{netip.PrefixFrom(form.WithZone("").Unmap(), form.WithZone("").Unmap().BitLen())}
			for _, c := range []struct {
				name   string
				policy Policy
				url    string
				from   *Source
				ok     bool
			}{
				{"typed", Typed(), "http://" + literal + "/", nil, false},
				{"typed name", Typed(), "http://evil.example/", nil, false},
				{"from this machine", Typed(), "http://evil.example/", &Source{Peer: netip.MustParseAddr("127.0.0.1")}, false},
				{"listed", Allowlist("evil.example"), "http://evil.example/", nil, false},
				{"allowed", allowed, "http://" + literal + "/", nil, true},
				{"allowed, but a server led there", allowed, "http://evil.example/", &Source{}, false},
			} {
				r := &recorder{}
				client := New(Options{Policy: c.policy, Dial: r.dial, Resolver: answering(form)}, page(func(_ *Request, resp *Response) { text(resp, "") }))
				if c.from != nil {
					c.from.URL = uri.MustParse("http://page.example/")
				}
				u, err := ParseURL(c.url)
				if err != nil {
					t.Fatal(err)
				}
				resp, err := client.Do(t.Context(), &Request{URL: u, From: c.from})
				if (err == nil) != c.ok || err != nil && !errors.Is(err, BadAddress) || (r.addresses() != "") != c.ok {
					t.Errorf("%s, %s %s: got %v, dialled %q, want ok %v", service, c.name, form, err, r.addresses(), c.ok)
				}
				if err == nil {
					resp.Body.Close()
				}
				client.Close()
			}
		}
	}
}

// answering is a Resolver that returns the same address for every name.
func answering(a netip.Addr) names {
	return names{"evil.example": {a.String()}}
}

// formsOf returns a. For an IPv4 address, it also returns the IPv6 addresses
// that a translator or a tunnel maps to it.
func formsOf(a netip.Addr) []netip.Addr {
	forms := []netip.Addr{a}
	if !a.Is4() {
		return forms
	}
	b := a.As4()
	h := func(i, j int) uint16 { return uint16(b[i])<<8 | uint16(b[j]) }
	for _, text := range []string{
		"::ffff:" + a.String(), "::" + a.String(), "::ffff:0:" + a.String(), "64:ff9b::" + a.String(), "64:ff9b:1::" + a.String(),
		fmt.Sprintf("64:ff9b:1:%x:%x:%x::", h(0, 1), b[2], uint16(b[3])<<8),
		fmt.Sprintf("64:ff9b:1:%x:%x:%x::", b[0], b[1], h(2, 3)),
		fmt.Sprintf("64:ff9b:1:0:%x:%x:%x:0", b[0], h(1, 2), uint16(b[3])<<8),
		fmt.Sprintf("2002:%x:%x::1", h(0, 1), h(2, 3)),
		fmt.Sprintf("2001:0:%x:%x::1", h(0, 1), h(2, 3)),
		fmt.Sprintf("2001:0:0808:0808::%x:%x", ^h(0, 1), ^h(2, 3)),
		fmt.Sprintf("2001:4860::5efe:%x:%x", h(0, 1), h(2, 3)),
	} {
		forms = append(forms, netip.MustParseAddr(text))
	}
	return forms
}
